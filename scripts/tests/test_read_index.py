"""The second reader reads the golden files as they were written."""
import contextlib
import io
import pathlib
import sys
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = SCRIPTS.parent / "index/tests/golden"
sys.path.insert(0, str(SCRIPTS))

import read_index  # noqa: E402


class GoldenFiles(unittest.TestCase):
    def test_each_is_read_as_it_was_written(self):
        files = sorted(GOLDEN.glob("*.idx"))
        self.assertTrue(files)
        for path in files:
            with self.subTest(path.name):
                index = read_index.Index(path.read_bytes())
                lines = "\n".join(read_index.dump(index)) + "\n"
                self.assertEqual(lines, path.with_suffix(".txt").read_text("utf-8"))

    def test_damage_is_noticed(self):
        data = bytearray((GOLDEN / "format-1.idx").read_bytes())
        for place in range(0, len(data), 97):
            data[place] ^= 1
            with self.assertRaises(read_index.Damaged, msg=f"byte {place}"):
                read_index.Index(bytes(data))
            data[place] ^= 1

    def test_usage_and_errors_are_told_apart(self):
        def run(*arguments):
            with contextlib.redirect_stderr(io.StringIO()):
                argv, sys.argv = sys.argv, ["read_index.py", *arguments]
                try:
                    return read_index.main()
                finally:
                    sys.argv = argv

        self.assertEqual(run(), 2)
        self.assertEqual(run(str(GOLDEN / "no-such.idx")), 1)


if __name__ == "__main__":
    unittest.main()
