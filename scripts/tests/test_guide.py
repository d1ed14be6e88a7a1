"""The guide and the README hold what they promise: links lead somewhere, examples parse, options exist; and the tests
that SECURITY.md names exist.

The options are checked against the built programs, whose folder is in DOCS_INDEX_PROGRAMS; the anchors that links
name are checked against the index of the guide, DOCS_INDEX_GUIDE. scripts/test sets both.
"""
import json
import os
import re
import subprocess
import tomllib
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*GUIDE, *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"))]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")
TEST = re.compile(r"^ *(?:async )?fn (\w+)\(", re.M)
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
PROGRAMS = os.environ.get("DOCS_INDEX_PROGRAMS")
INDEX = os.environ.get("DOCS_INDEX_GUIDE")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def prose_of(page):
    """The text without code: a link in code is an example."""
    return re.sub(r"(`+)[^`].*?\1", "code", FENCE.sub("", page.read_text(encoding="utf-8")))


# Why a threat has no test: a dash and one sentence.
NO_TEST = re.compile(r"[-\u2013\u2014] +\w[^.]*[^.\s]\.?")


def threats(page):
    """Section, first cell and last cell of each row of a table whose last column is "test"."""
    section = columns = None
    for line in page.splitlines():
        if line.startswith("#"):
            section = line.lstrip("# ")
        if not line.startswith("|"):
            columns = None
            continue
        cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
        if columns is None:
            columns = cells
        elif columns[-1] == "test" and not set("".join(cells)) <= set("-:"):
            yield section, cells[0], cells[-1]


def run(program, *arguments):
    return subprocess.run([Path(PROGRAMS) / program, *arguments], capture_output=True, text=True, check=True).stdout


class Examples(unittest.TestCase):
    def test_blocks_marked_json_and_toml_parse(self):
        seen = 0
        for page in PAGES:
            for language, body in FENCE.findall(page.read_text(encoding="utf-8")):
                parse = {"json": json.loads, "toml": tomllib.loads}.get(language)
                if parse:
                    seen += 1
                    with self.subTest(page=name_of(page), block=body[:60]):
                        parse(body)
        self.assertGreater(seen, 8)

    def test_shell_blocks_are_shell(self):
        seen = 0
        for page in PAGES:
            for language, body in FENCE.findall(page.read_text(encoding="utf-8")):
                if language == "sh":
                    seen += 1
                    done = subprocess.run(["bash", "-n"], input=body, capture_output=True, text=True, check=False)
                    self.assertEqual(done.returncode, 0, f"{name_of(page)}: {done.stderr}\n{body}")
        self.assertGreater(seen, 8)


class Links(unittest.TestCase):
    def test_relative_links_name_files_that_exist(self):
        seen = 0
        for page in PAGES:
            for target in LINK.findall(prose_of(page)):
                path = target.partition("#")[0]
                if path and "://" not in target and not target.startswith("mailto:"):
                    seen += 1
                    with self.subTest(page=name_of(page), link=target):
                        self.assertTrue((page.parent / path).exists())
        self.assertGreater(seen, 20)

    @unittest.skipUnless(PROGRAMS and INDEX, "needs the programs and the guide's index")
    def test_links_with_an_anchor_name_a_section_of_the_index(self):
        known = set()
        for line in run("docs-indexer", "inspect", INDEX, "--json").splitlines():
            section = json.loads(line)
            known.add(section["id"])
            known.update(f"{section['path']}#{alias}" for alias in section["aliases"])
        seen = 0
        for page in GUIDE:
            for target in LINK.findall(prose_of(page)):
                path, _, anchor = target.partition("#")
                if anchor and "://" not in target:
                    seen += 1
                    file = (page.parent / path).resolve() if path else page
                    if file.is_relative_to(ROOT / "docs"):
                        with self.subTest(page=name_of(page), link=target):
                            self.assertIn(f"{file.relative_to(ROOT / 'docs').as_posix()}#{anchor}", known)
        self.assertGreater(seen, 5)


@unittest.skipUnless(PROGRAMS, "needs the built programs")
class Options(unittest.TestCase):
    def test_options_that_the_guide_names_exist(self):
        helps = [run("docs-server", "--help"), run("docs-indexer", "--help")]
        commands = re.findall(r"^  ([a-z]+) ", helps[1], re.M)
        helps += [run("docs-indexer", command, "--help") for command in commands if command != "help"]
        known = set(OPTION.findall("\n".join(helps)))
        foreign = {"--locked", "--path", "--transport", "--header"}  # of cargo and of hosts
        for page in [*GUIDE, ROOT / "README.md", ROOT / "SECURITY.md"]:
            if page.name == "benchmarks.md" or "decisions" in page.parts:
                continue
            with self.subTest(page=name_of(page)):
                self.assertEqual(set(OPTION.findall(page.read_text(encoding="utf-8"))) - known - foreign, set())


class Security(unittest.TestCase):
    """Every threat in SECURITY.md names a test that is there, or says after a dash why there is none."""

    def test_threats_name_tests_that_exist(self):
        sources = [path for crate in ("index", "indexer", "server") for path in (ROOT / crate).rglob("*.rs")
                   if "target" not in path.relative_to(ROOT).parts]
        known = {name for path in sources for name in TEST.findall(path.read_text(encoding="utf-8"))}
        rows = list(threats((ROOT / "SECURITY.md").read_text(encoding="utf-8")))
        self.assertGreater(len(rows), 25)
        for section, threat, cell in rows:
            with self.subTest(section=section, threat=threat):
                names = re.findall(r"`([^`]+)`", cell)
                self.assertTrue(names or NO_TEST.fullmatch(cell), f"names no test, and says not why: {cell!r}")
                self.assertEqual([name for name in names if name not in known], [])

    def test_each_section_about_an_input_has_threats(self):
        page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
        about_inputs = re.findall(r"^## (An? .*)$", page, re.M)
        self.assertGreater(len(about_inputs), 3)
        with_threats = {section for section, _, _ in threats(page)}
        self.assertEqual([section for section in about_inputs if section not in with_threats], [])

    def test_a_row_is_read_as_it_is_written(self):
        page = "## A\n\n| it could | what | test |\n|---|---|---|\n| x | `y` | `z`, `w` |\n| v | u | |\n" \
               "\n| trusted | for |\n|---|---|\n| a | b |\n## B\n| c | test |\n|--|--|\n| d | \u2013 no way. |\n"
        self.assertEqual(list(threats(page)), [
            ("A", "x", "`z`, `w`"), ("A", "v", ""), ("B", "d", "\u2013 no way.")])
        for cell, is_reason in (("\u2013 no way to see it.", True), ("- Seen by eye", True), ("-", False), ("", False),
                                ("\u2014", False), ("\u2013 One. Two.", False), ("by eye", False)):
            with self.subTest(cell=cell):
                self.assertEqual(bool(NO_TEST.fullmatch(cell)), is_reason)


if __name__ == "__main__":
    unittest.main()
