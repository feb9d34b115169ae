"""Pages that begin with `own`, and README.md: a reader writes files, pastes commands, and gets the report shown.

A page shows the spec first, then its other files: blocks with a name behind their language, as in ```yaml p99.yaml.
The first block of `sh` has the commands, `stepgrid run` among them; the block behind it is what they print.
"""

import re
from itertools import takewhile

import pytest

from tests.docs.pages import DOCS, ROOT, blocks, write_files
from tests.integration.conftest import Lab
from tests.needs import require

# Servers that are unpacked, crates that are compiled, for minutes; what other tests hold with the same engines.
NIGHTLY = {"own-build", "own-collector", "own-lua", "own-package", "own-server", "own-sql", "own-table"}
PAGES = sorted({*DOCS.glob("guides/own-*.md")} - {DOCS / "guides/own-patch.md"})  # a lesson, below
NEEDS = {
    "debian": "apt", "library/": "apt", "cargo:": "cargo", "npm:": "npm", "go:": "go",
    "requirements:": "pip", "pip install": "pip", "make -j": "make", "$(CC)": "cc",
    "zonky": "maven",
}  # fmt: skip
FIGURE = re.compile(r"[▲▼≠?=*]*[\d.]+[kMB]?×?(–[\d.]+[kMB]?)?")
BEHIND_THE_FIGURES = re.compile(r"  ([▲▼≠?=*!] |(over all|builds|why|claims|undecided|releases|products|page|next) )")


def as_case(page):
    return pytest.param(page, id=page.stem, marks=[pytest.mark.nightly] if page.stem in NIGHTLY else [])


@pytest.mark.parametrize("page", [as_case(page) for page in (*PAGES, ROOT / "README.md")])
def test_a_reader_gets_the_report_that_a_page_shows(page, tmp_path):
    commands, report = commands_and_report(page)
    require(*{name for word, name in NEEDS.items() if word in page.read_text(encoding="utf-8")})
    write_files(page, tmp_path)
    done = Lab(tmp_path).execute(["bash", "-ec", commands], 900, COLUMNS="100")
    assert done.returncode == 0, done.stderr + done.stdout
    title = report.split("   ")[0]
    assert words(done.stdout, title) == words(report, title), done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_the_whole_spec_before_all_else(page):
    first = next(blocks(page))
    assert first.file.endswith(".yaml")
    assert first.text.startswith("title:")
    assert f"stepgrid run {first.file}" in commands_and_report(page)[0]


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["own-patch", "server"])
def test_a_lesson_of_the_tutorial_ends_in_its_report(name, tmp_path):
    page = DOCS / "guides" / f"{name}.md"
    require(*{name for word, name in NEEDS.items() if word in page.read_text(encoding="utf-8")})
    write_files(page, tmp_path)
    commands = "".join(block.text for block in blocks(page, "sh"))
    report = next(block.text for block in blocks(page, "text") if "  page  " in block.text)
    done = Lab(tmp_path).execute(["bash", "-ec", commands], 900, COLUMNS="100")
    assert done.returncode == 0, done.stderr + done.stdout
    title = report.split("   ")[0]
    assert words(done.stdout, title) == words(report, title), done.stdout


def commands_and_report(page):
    shown = list(blocks(page))
    position = next(number for number, block in enumerate(shown) if block.language == "sh" and not block.file)
    commands, report = shown[position : position + 2]
    return commands.text, report.text


def words(report, title):
    """Title, head and names of the rows: what is the same in each run. Claims by their number.

    A row over all points is there where they agree."""
    _, *lines = report[report.index(title) :].splitlines()
    table = takewhile(lambda line: not BEHIND_THE_FIGURES.match(line), lines)
    plain = [re.sub(r" ± (over )?[\d.]+ %", "", line).split() for line in table]
    rows = [" ".join(word for word in line if not FIGURE.fullmatch(word)) for line in plain]
    return [title, *rows, *re.findall(r"^  claims +\d+", report, re.MULTILINE)]
