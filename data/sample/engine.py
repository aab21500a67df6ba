"""Builds a git history in memory and writes it as a `git fast-import` stream.

Nothing here knows what the sample is about: see `start.py` for its first tree and `history.py` for its pull
requests. Everything is a function of those two files, so the same sources always give the same bytes.
"""

import calendar
import hashlib
import time


class Commit:
    """A commit with its tree, and the name that git will give it."""

    def __init__(self, tree, parents, author, authored, committer, committed, message):
        self.tree, self.parents, self.message = dict(tree), list(parents), message
        self.author, self.authored = author, seconds(authored)
        self.committer, self.committed = committer, seconds(committed)
        self.id = object_id("commit", self._object())

    def _object(self):
        lines = ["tree " + tree_id(self.tree)]
        lines += ["parent " + parent.id for parent in self.parents]
        lines += ["author " + self.author_line(), "committer " + self.committer_line()]
        return ("\n".join(lines) + "\n\n" + self.message).encode()

    def author_line(self):
        return "%s %d +0000" % (self.author, self.authored)

    def committer_line(self):
        return "%s %d +0000" % (self.committer, self.committed)


def seconds(date):
    """Seconds since 1970 of a date such as `2024-10-04 09:30` (UTC)."""
    return calendar.timegm(time.strptime(date, "%Y-%m-%d %H:%M"))


def object_id(kind, content):
    """The name git gives to an object."""
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), len(content)) + content).hexdigest()


def tree_id(files):
    """The name git gives to a tree, from its files by path (all of them plain, mode 644)."""
    entries, folders = [], {}
    for path, content in files.items():
        name, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(name, {})[rest] = content
        else:
            entries.append((name.encode(), b"100644", object_id("blob", content)))
    for name, inner in folders.items():
        entries.append((name.encode(), b"40000", tree_id(inner)))
    entries.sort(key=lambda entry: entry[0] + (b"/" if entry[1] == b"40000" else b""))
    content = b"".join(mode + b" " + name + b"\0" + bytes.fromhex(oid) for name, mode, oid in entries)
    return object_id("tree", content)


def history_of(tip):
    """Every commit that `tip` reaches, parents before children, in an order that never changes."""
    seen, order, stack = set(), [], [(tip, False)]
    while stack:
        commit, expanded = stack.pop()
        if expanded:
            order.append(commit)
        elif commit.id not in seen:
            seen.add(commit.id)
            stack.append((commit, True))
            stack.extend((parent, False) for parent in reversed(commit.parents))
    return order


def merge_base(one, other):
    """The best common ancestor of two commits (the sample never has two)."""
    others = {commit.id for commit in history_of(other)}
    common = [commit for commit in history_of(one) if commit.id in others]
    behind = {ancestor.id for commit in common for ancestor in history_of(commit)[:-1]}
    (best,) = [commit for commit in common if commit.id not in behind]
    return best


class Stream:
    """The stream's text: each blob and commit once, then the references."""

    def __init__(self):
        self.lines, self.marks = [], {}

    def _mark(self, key):
        self.marks[key] = ":%d" % (len(self.marks) + 1)
        return self.marks[key]

    def _data(self, content):
        self.lines += [b"data %d" % len(content), content]

    def _blob(self, content):
        key = ("blob", content)
        if key not in self.marks:
            self.lines += [b"blob", b"mark " + self._mark(key).encode()]
            self._data(content)
        return self.marks[key]

    def commit(self, tip, ref):
        """Writes `tip` and whatever of its history is not written yet; `ref` is only a working name."""
        for commit in history_of(tip):
            if commit.id in self.marks:
                continue
            before = commit.parents[0].tree if commit.parents else {}
            changed = sorted(path for path in commit.tree if before.get(path) != commit.tree[path])
            gone = sorted(path for path in before if path not in commit.tree)
            blobs = [(self._blob(commit.tree[path]), path) for path in changed]
            if not commit.parents:
                self.lines.append(b"reset " + ref.encode())
            self.lines += [b"commit " + ref.encode(), b"mark " + self._mark(commit.id).encode()]
            self.lines += [b"author " + commit.author_line().encode()]
            self.lines += [b"committer " + commit.committer_line().encode()]
            self._data(commit.message.encode())
            for verb, parent in zip(["from"] + ["merge"] * 8, commit.parents):
                self.lines.append(("%s %s" % (verb, self.marks[parent.id])).encode())
            self.lines += [("D " + path).encode() for path in gone]
            self.lines += [("M 100644 %s %s" % (mark, path)).encode() for mark, path in blobs]
            self.lines.append(b"")

    def reset(self, ref, commit):
        """Points a reference at a commit."""
        self.lines += [("reset " + ref).encode(), ("from " + self.marks[commit.id]).encode(), b""]

    def tag(self, name, commit, tagger, tagged, message):
        """Writes an annotated tag."""
        self.lines += [("tag " + name).encode(), ("from " + self.marks[commit.id]).encode()]
        self.lines += [("tagger %s %d +0000" % (tagger, seconds(tagged))).encode()]
        self._data(message.encode())

    def bytes(self):
        """The whole stream; `done` at its end makes a cut one an error."""
        return b"\n".join([b"feature done"] + self.lines + [b"done", b""])
