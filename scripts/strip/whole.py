"""whole.py QUARRY TREE WORK: whole trees, by the program itself: seconds, peak memory, and git objects beside a checkout.

TREE is a folder with one project a subfolder. Times are the best of ROUNDS, caches warm. The limit of memory is
30 times the largest file plus 50 MB. Ends with an error when a limit is broken.
"""

import os
import resource
import shutil
import subprocess
import sys
import time

ROUNDS = 2
# The largest few projects make the repository: one commit, packed, as a mirror is.
PROJECTS = 3


def files(folder):
    for top, folders, names in os.walk(folder):
        for name in names:
            path = os.path.join(top, name)
            if not os.path.islink(path):
                yield os.path.getsize(path)


def once(command):
    """Seconds and peak bytes of one run; a child of its own, so that the peak is this run's."""
    reader, writer = os.pipe()
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        os.close(reader)
        code = subprocess.call(command, stdout=subprocess.DEVNULL)
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        os.write(writer, b"%d %d" % (code, peak))
        os._exit(0)
    os.close(writer)
    code, peak = map(int, os.read(reader, 100).split())
    os.waitpid(child, 0)
    seconds = time.perf_counter() - start
    if code:
        sys.exit("%s ended with %d" % (" ".join(command), code))
    return seconds, peak


def measure(labels, size, out, *commands, before=lambda: None):
    """Commands in turn, so that all meet the machine in the same mood; `before` is not timed."""
    results = [[] for _ in commands]
    for _ in range(ROUNDS):
        for command, result in zip(commands, results):
            shutil.rmtree(out, ignore_errors=True)
            before()
            result.append(once(command))
    best = []
    for label, result in zip(labels, results):
        seconds, peak = min(s for s, _ in result), max(p for _, p in result)
        best.append((seconds, peak))
        print("%-46s %7.2f s %8.1f MB/s %7.0f MB peak" % (label, seconds, size / 1e6 / seconds, peak / 1e6), flush=True)
    return best


def git(folder, *arguments):
    settings = ["-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "core.autocrlf=false",
                "-c", "core.excludesFile=", "-c", "gc.auto=0", "-c", "commit.gpgSign=false"]
    return subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def main(quarry, tree, work):
    out = os.path.join(work, "whole.out")
    sizes = list(files(tree))
    largest, total = max(sizes), sum(sizes)
    limit = 30 * largest + 50e6
    print("all projects: %d files, %.0f MB; the largest file has %.1f MB: memory may be %.0f MB" % (
        len(sizes), total / 1e6, largest / 1e6, limit / 1e6))
    strip = [quarry, "--quiet", "strip", "--out", out]
    one, two = measure(
        ["folder to folder, one thread", "folder to folder, two threads"], total, out,
        [*strip, tree, "--jobs", "1"], [*strip, tree, "--jobs", "2"])
    print("two threads are %.2f times one" % (one[0] / two[0]))

    projects = sorted(os.listdir(tree), key=lambda name: -sum(files(os.path.join(tree, name))))[:PROJECTS]
    checkout = os.path.join(work, "whole.checkout")
    shutil.rmtree(checkout, ignore_errors=True)
    os.mkdir(checkout)
    for name in projects:
        shutil.copytree(os.path.join(tree, name), os.path.join(checkout, name), symlinks=True)
    git(checkout, "init", "--quiet", "--template=")
    git(checkout, "add", "--all", "--force", ".")
    git(checkout, "commit", "--quiet", "--no-verify", "--message", "bench")
    git(checkout, "repack", "--quiet", "-a", "-d")
    mirror = os.path.join(work, "whole.git")
    shutil.rmtree(mirror, ignore_errors=True)
    os.rename(os.path.join(checkout, ".git"), mirror)
    commit = git(mirror, "rev-parse", "HEAD").strip()
    size = sum(files(checkout))
    print("one repository: %s, %.0f MB" % (", ".join(projects), size / 1e6))
    objects = ["--commit", commit, "--mirror", mirror]
    # A tree is written into a repository that does not hold it yet.
    target = os.path.join(work, "whole.target.git")

    def fresh():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(mirror, target)

    tree_only = [quarry, "--quiet", "strip", "--format", "tree", "--commit", commit, "--mirror", target]
    peaks = [one, two]
    for jobs in ("1", "2"):
        threads = "%s thread%s" % (("one", "") if jobs == "1" else ("two", "s"))
        folder, commit_out, commit_tree = measure(
            ["checkout to folder, " + threads, "git objects to folder, " + threads,
             "git objects to git tree, " + threads], size, out,
            [*strip, checkout, "--jobs", jobs], [*strip, *objects, "--jobs", jobs], [*tree_only, "--jobs", jobs],
            before=fresh)
        print("git objects take %.2f times the checkout's time to a folder, %.2f times to a git tree" % (
            commit_out[0] / folder[0], commit_tree[0] / folder[0]))
        peaks += [folder, commit_out, commit_tree]
    peak = max(peak for _, peak in peaks)
    print("peak memory %.0f MB, %s the limit of %.0f MB" % (
        peak / 1e6, "within" if peak <= limit else "OVER", limit / 1e6))
    for folder in (out, checkout, mirror, target):
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(peak > limit)


main(*sys.argv[1:])
