import unittest


class Async(getattr(unittest, "IsolatedAsyncioTestCase", unittest.TestCase)):
    async def _value(self):
        return 1

    if hasattr(unittest, "IsolatedAsyncioTestCase"):

        async def test_awaits_passes(self):
            self.assertEqual(await self._value(), 1)

    else:

        def test_awaits_passes(self):
            pass
