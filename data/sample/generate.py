#!/usr/bin/env python3
"""Writes `sample.fi` (the history as a `git fast-import` stream) and `expected.toml` (how each pull request must end).

    python3 data/sample/generate.py            writes both beside this file
    python3 data/sample/generate.py --check    says whether they are what this script makes
"""

import pathlib
import sys

import engine
import history
import start

HERE = pathlib.Path(__file__).resolve().parent


def encode(path, text):
    """A file's bytes: UTF-8 with `\\n`, unless `start.py` says otherwise."""
    if path in start.CRLF:
        text = text.replace("\n", "\r\n")
    return text.encode("latin-1" if path in start.LATIN_1 else "utf-8")


def decode(path, content):
    """The inverse of `encode`."""
    text = content.decode("latin-1" if path in start.LATIN_1 else "utf-8")
    return text.replace("\r\n", "\n") if path in start.CRLF else text


def apply(tree, edits):
    """A new tree with the edits made."""
    tree = dict(tree)
    for change in edits:
        if change.moved_to is not None:
            tree[change.moved_to] = tree.pop(change.path)
        elif change.old is None:
            assert change.path not in tree, change.path
            tree[change.path] = encode(change.path, change.new)
        elif change.old == "":
            tree[change.path] += encode(change.path, change.new)
        else:
            text = decode(change.path, tree[change.path])
            assert text.count(change.old) == 1, (change.path, change.old)
            tree[change.path] = encode(change.path, text.replace(change.old, change.new))
    return tree


class Builder:
    """Walks the events and keeps branches, named states, tags and pull-request heads."""

    def __init__(self):
        self.branches, self.states, self.tags = {}, {}, []
        self.heads, self.landings = {}, {}

    def commit(self, branch, tree, parents, author, authored, committed, message):
        made = engine.Commit(tree, parents, author, authored, history.FORGE, committed, self.fill(message))
        self.branches[branch] = made
        return made

    def fill(self, text):
        """Puts a landed commit's name where a message says `{landed N}`."""
        for number, landing in self.landings.items():
            text = text.replace("{landed %d}" % number, landing["merge_commit"].id)
        assert "{landed" not in text, text
        return text

    def push(self, event):
        tip = self.branches.get(event.branch)
        tree = apply(tip.tree, event.edits) if tip else {path: encode(path, text) for path, text in start.FILES.items()}
        made = engine.Commit(
            tree, [tip] if tip else [], event.author, event.date, event.author, event.date, event.message
        )
        self.branches[event.branch] = made

    def open(self, pull):
        """The pull request's own branch."""
        tip = self.states[pull.fork] if pull.fork else self.branches[pull.branch]
        done = []
        for position, (date, message, edits) in enumerate(pull.commits):
            if pull.sync and position == len(pull.commits) - 1:
                main = self.branches["main"]
                text = "Merge branch 'main' into pull-%d\n" % pull.number
                tip = engine.Commit(apply(main.tree, done), [tip, main], pull.author, pull.sync, pull.author, pull.sync, text)
            tip = engine.Commit(apply(tip.tree, edits), [tip], pull.author, date, pull.author, date, self.fill(message))
            done = done + edits
        self.heads[pull.number] = self.states["head %d" % pull.number] = tip

    def land(self, pull):
        """Brings an opened pull request to its branch."""
        base, head = self.branches[pull.branch], self.heads[pull.number]
        edits = [change for _, _, edits in pull.commits for change in edits]
        if pull.merge == "merge":
            message = "Merge pull request #%d from quarry-bench/pull-%d\n\n%s\n" % (pull.number, pull.number, pull.title)
            tree = apply(base.tree, edits)
            self.commit(pull.branch, tree, [base, head], pull.author, pull.landed, pull.landed, message)
        elif pull.merge == "squash":
            subject = "%s (#%d)\n" % (pull.title, pull.number)
            body = pull.body or pull.commits[0][1].partition("\n\n")[2]
            tree = apply(base.tree, edits)
            message = subject + ("\n" + body if body else "")
            self.commit(pull.branch, tree, [base], pull.author, pull.landed, pull.landed, message)
        elif pull.merge == "rebase":
            for date, message, edits in pull.commits:
                tip = self.branches[pull.branch]
                self.commit(pull.branch, apply(tip.tree, edits), [tip], pull.author, date, pull.landed, message)
        else:
            assert pull.merge == "fast-forward" and head.parents == [base], pull.number
            self.branches[pull.branch] = head
        self.landings[pull.number] = dict(
            merge_commit=self.branches[pull.branch], base_commit=base, merge_base=engine.merge_base(base, head)
        )

    def run(self, events):
        for event in events:
            if isinstance(event, history.Push):
                self.push(event)
            elif isinstance(event, history.Branch):
                self.branches[event.name] = self.branches["main"]
            elif isinstance(event, history.Name):
                self.states[event.name] = self.branches[event.branch]
            elif isinstance(event, history.Tag):
                self.tags.append((event, self.branches[event.branch]))
            else:
                self.open(event)
                if event.merge:
                    self.land(event)


def stream(built):
    """The whole history as a stream."""
    out = engine.Stream()
    for branch, tip in built.branches.items():
        out.commit(tip, "refs/heads/" + branch)
        out.reset("refs/heads/" + branch, tip)
    for number, head in built.heads.items():
        out.commit(head, "refs/pull/%d/head" % number)
        out.reset("refs/pull/%d/head" % number, head)
    for event, commit in built.tags:
        if event.message:
            out.tag(event.name, commit, history.ADA, event.date, event.message)
        else:
            out.reset("refs/tags/" + event.name, commit)
    return out.bytes()


def toml(value):
    """A TOML value: texts, lists of texts."""
    if isinstance(value, str):
        return '"%s"' % value.replace("\\", "\\\\").replace('"', '\\"')
    if isinstance(value, int):
        return str(value)
    if len(value) < 2:
        return "[%s]" % ", ".join(map(toml, value))
    return "[\n%s]" % "".join("  %s,\n" % toml(item) for item in value)


def expected(built, events):
    """The table that the tests read."""
    lines = [
        "# How each pull request of the sample must end. Written by generate.py from history.py: do not edit.",
        "",
        'repository = "quarry-bench/pantry"',
        "main = " + toml(built.branches["main"].id),
    ]
    for pull in (event for event in events if isinstance(event, history.Pull)):
        row = dict(number=pull.number, title=pull.title, shows=pull.shows, merge=pull.merge or "none")
        row.update(head=built.heads[pull.number].id)
        if pull.merge:
            row.update(branch=pull.branch)
            row.update((key, commit.id) for key, commit in built.landings[pull.number].items())
        row.update(pull.expect)
        lines += ["", "[[pull_request]]"] + ["%s = %s" % (key, toml(value)) for key, value in row.items()]
    return ("\n".join(lines) + "\n").encode()


def main(arguments):
    built = Builder()
    built.run(history.EVENTS)
    made = {"sample.fi": stream(built), "expected.toml": expected(built, history.EVENTS)}
    if arguments == ["--check"]:
        stale = [name for name, content in made.items() if (HERE / name).read_bytes() != content]
        if stale:
            sys.exit("not what generate.py makes: " + ", ".join(stale))
        return
    for name, content in made.items():
        (HERE / name).write_bytes(content)


if __name__ == "__main__":
    main(sys.argv[1:])
