import unittest
from pathlib import Path

FOLDER = Path(__file__).parents[2]


class SizeTests(unittest.TestCase):
    """An example has fewer than 40 lines, and a helper module at most 60: a team reads them in a minute."""

    def test_the_examples_and_the_helpers_are_short(self):
        files = [path for pattern in ("python/*.py", "node/*.mjs") for path in FOLDER.glob(pattern)]
        self.assertEqual(len(files), 9, files)
        for path in files:
            most = 60 if path.stem.replace("-", "_") == "longshore_handler" else 39
            self.assertLessEqual(len(path.read_text().splitlines()), most, path)
