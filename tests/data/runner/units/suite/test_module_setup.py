import unittest


def setUpModule():
    raise ValueError("setUpModule")


class One(unittest.TestCase):
    def test_one_errors(self):
        pass


class Two(unittest.TestCase):
    def test_two_errors(self):
        pass
