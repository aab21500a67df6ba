"""Reads pairs of programs on standard input; says whether the second is the first without its docstrings.

A request is a line `BYTES BYTES STRINGS`, then that many bytes of the original and of the stripped program. STRINGS is 1
when string statements may be gone that are no docstrings. The answer is a line: `same`, `skip WHY`, or `differs WHY`.
"""

import sys

# Nothing of the working folder takes the place of a module (Python 2 has no `-I`).
sys.path = [folder for folder in sys.path if folder]

import ast
import dis
import types
import warnings

warnings.simplefilter("ignore")
sys.setrecursionlimit(20000)
SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, getattr(ast, "AsyncFunctionDef", ast.FunctionDef))
BODIES = ("body", "orelse", "finalbody")


def is_string(node):
    value = getattr(node, "value", None)
    if not isinstance(node, ast.Expr):
        return False
    if sys.version_info < (3, 8):
        # Python 2's bytes are docstrings, too.
        return isinstance(value, ast.Str)
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def thin(tree, everywhere):
    """Drops what both programs may differ in: leading strings (or all), and a lone `pass`."""
    for node in ast.walk(tree):
        for field in BODIES:
            body = getattr(node, field, None)
            if not isinstance(body, list) or not body:
                continue
            if everywhere:
                body = [each for each in body if not is_string(each)]
            elif field == "body" and isinstance(node, SCOPES):
                count = 0
                while count < len(body) and is_string(body[count]):
                    count += 1
                body = body[count:]
            if len(body) == 1 and isinstance(body[0], ast.Pass):
                body = []
            setattr(node, field, body)
    return tree


def dump(tree):
    # Iterative, so that no tree is too deep for it.
    out, work = [], [tree]
    while work:
        node = work.pop()
        if isinstance(node, ast.AST):
            out.append(type(node).__name__)
            for field in reversed(node._fields):
                work.append(getattr(node, field, None))
                work.append(field)
        elif isinstance(node, list):
            out.append("[%d" % len(node))
            work.extend(reversed(node))
        else:
            out.append(repr(node))
    return out


def instructions(code):
    """Opcodes and arguments of a program, without padding; jumps by the index of where they lead."""
    out, work = [], [code]
    while work:
        code = work.pop()
        listing = list(dis.get_instructions(code))
        index, count = {}, 0
        for each in listing:
            index[each.offset] = count
            count += each.opname not in ("NOP", "EXTENDED_ARG")
        for each in listing:
            if each.opname in ("NOP", "EXTENDED_ARG"):
                continue
            value = each.argval
            # Since 3.13 a class keeps the number of its first line, which a cut above it changes.
            if each.opname == "STORE_NAME" and value == "__firstlineno__" and out:
                out.pop()
            if each.opcode in dis.hasjrel or each.opcode in dis.hasjabs:
                value = index.get(value)
            elif isinstance(value, types.CodeType):
                value = value.co_name
            elif isinstance(value, frozenset):
                value = sorted(map(repr, value))
            out.append((each.opname, repr(value)))
        work.extend(each for each in code.co_consts if isinstance(each, types.CodeType))
    return out


def judge(original, stripped, everywhere):
    try:
        before = ast.parse(original)
    except Exception as error:
        return "skip %s" % type(error).__name__
    try:
        after = ast.parse(stripped)
    except Exception as error:
        return "differs it does not parse: %s" % error
    # A docstring that stays is on both sides, and both sides lose it here.
    if dump(thin(before, everywhere)) != dump(thin(after, everywhere)):
        return "differs in its tree"
    if sys.version_info < (3,):
        return "same"  # Its `compile` keeps docstrings, and its `dis` only prints.
    try:
        before = compile(original, "program", "exec", dont_inherit=True, optimize=2)
    except Exception as error:
        return "same"
    try:
        after = compile(stripped, "program", "exec", dont_inherit=True, optimize=2)
    except Exception as error:
        return "differs it does not compile: %s" % error
    return "same" if instructions(before) == instructions(after) else "differs in its instructions"


def main():
    stdin, stdout = getattr(sys.stdin, "buffer", sys.stdin), getattr(sys.stdout, "buffer", sys.stdout)
    for line in iter(stdin.readline, b""):
        first, second, everywhere = map(int, line.split())
        original, stripped = stdin.read(first), stdin.read(second)
        try:
            answer = judge(original, stripped, bool(everywhere))
        except (RecursionError, MemoryError) as error:
            answer = "skip %s" % type(error).__name__
        stdout.write(" ".join(answer.split()).encode("ascii", "replace") + b"\n")
        stdout.flush()


main()
