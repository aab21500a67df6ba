import io
import os
import sys
import unittest

ORDER = []


class Shelf(unittest.TestCase):
    def setUp(self):
        ORDER.append(type(self).__name__)

    def test_made_ready_passes(self):
        self.assertEqual(os.environ["PANTRY_SETTINGS"], "plain")
        self.assertEqual(sys.modules["__main__"].READY, [])

    def test_a_suite_inside_passes(self):
        class Inner(unittest.TestCase):
            def test_inner(self):
                self.fail("it is told to its own result")

        class Own(unittest.TextTestResult):
            pass

        suite = unittest.TestLoader().loadTestsFromTestCase(Inner)
        result = unittest.TextTestRunner(stream=io.StringIO(), resultclass=Own).run(suite)
        self.assertIsInstance(result, Own)
        self.assertEqual(len(result.failures), 1)

    def test_fails(self):
        self.fail("as it says")


class Door(Shelf):
    @classmethod
    def setUpClass(cls):
        ORDER.append("setup")


class Rest(unittest.TestCase):
    def test_classes_stay_together_passes(self):
        self.assertEqual(ORDER.count("setup"), 1 if "Door" in ORDER else 0)

    @unittest.skip("as it says")
    def test_skips(self):
        pass

    @unittest.expectedFailure
    def test_xfails(self):
        self.fail("as it is marked")


class Unready(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("no shelf")

    def test_errors(self):
        pass
