"""Reward 1 when every FAIL_TO_PASS and PASS_TO_PASS test passed, 0 otherwise; a test that is absent or skipped has not passed."""
import json
import os
import sys

tests, report, reward = sys.argv[1:]
with open(tests) as file:
    wanted = json.load(file)
seen = {}
if os.path.exists(report):
    with open(report) as file:
        seen = json.load(file)
missed = [name for name in wanted["FAIL_TO_PASS"] + wanted["PASS_TO_PASS"] if seen.get(name) != "PASSED"]
for name in missed:
    print("not passed: %s (%s)" % (name, seen.get(name, "absent")))
with open(reward, "w") as file:
    file.write("0\n" if missed else "1\n")
