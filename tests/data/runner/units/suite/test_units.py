import unittest


class Plain(unittest.TestCase):
    def test_passes(self):
        pass

    def test_fails(self):
        self.assertEqual(1, 2)

    def test_errors_fails(self):
        raise ValueError("error")

    @unittest.skip("reason")
    def test_skips(self):
        pass

    @unittest.expectedFailure
    def test_xfails(self):
        self.assertEqual(1, 2)

    @unittest.expectedFailure
    def test_unexpected_fails(self):
        pass

    def test_subtest_fails(self):
        for number in range(3):
            with self.subTest(number=number):
                self.assertNotEqual(number, 1)

    def test_subtests_passes(self):
        for number in range(3):
            with self.subTest(number=number):
                pass

    def test_skipped_subtest_passes(self):
        for number in range(3):
            with self.subTest(number=number):
                if number == 1:
                    self.skipTest("one")

    def test_cleanup_fails(self):
        self.addCleanup(lambda: 1 / 0)


class TearDownFails(unittest.TestCase):
    def tearDown(self):
        raise ValueError("tearDown")

    def test_fails(self):
        pass


class SetUpSkips(unittest.TestCase):
    def setUp(self):
        self.skipTest("setUp")

    def test_skips(self):
        pass


class ClassFails(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise ValueError("setUpClass")

    def test_one_errors(self):
        pass

    def test_two_errors(self):
        pass


class ClassSkips(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise unittest.SkipTest("setUpClass")

    def test_skips(self):
        pass


class ClassTearDownFails(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        raise ValueError("tearDownClass")

    def test_a_passes(self):
        pass

    def test_b_errors(self):
        pass


@unittest.skip("whole class")
class Skipped(unittest.TestCase):
    def test_skips(self):
        pass
