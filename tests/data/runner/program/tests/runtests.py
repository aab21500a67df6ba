"""A project's own way to run its tests: it makes something ready, loads what labels name, and has its own suites."""
import argparse
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
READY = []


def suites(labels):
    loader = unittest.TestLoader()
    if labels:
        return loader.loadTestsFromNames(labels)
    return loader.discover(HERE, pattern="test*.py", top_level_dir=HERE)


def flat(suite):
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            for test in flat(part):
                yield test
        else:
            yield part


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("labels", nargs="*")
    parser.add_argument("--settings", required=True)
    options = parser.parse_args()
    if options.settings == "unready":
        import no_such_module
    if options.settings == "refuses":
        sys.exit(1)
    if options.settings == "idle":
        sys.exit(0)
    os.environ["PANTRY_SETTINGS"] = options.settings
    result = unittest.TextTestRunner(verbosity=0).run(unittest.TestSuite(flat(suites(options.labels))))
    if not result.wasSuccessful():
        sys.exit(1)
