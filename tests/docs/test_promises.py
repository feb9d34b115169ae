"""Rows of promises on pages name tests that exist."""

import re

import pytest

from tests.docs.pages import DOCS, ROOT

COMMAND = re.compile(r'`(?:pytest )?((?:tests/|test_)[\w/. ]+?)(?: -k (?:"([^"]+)"|(\w+)))?`')


def commands(page):
    """Paths and the words after -k of each; a file without a folder stands in that of the file before it."""
    for line in (DOCS / page).read_text(encoding="utf-8").splitlines():
        folder = "tests"
        for paths, several, single in COMMAND.findall(line if line.startswith("|") else ""):
            named = [path if path.startswith("tests/") else f"{folder}/{path}" for path in paths.split()]
            folder = named[-1].rpartition("/")[0]
            yield named, (several or single).split(" or ") if several or single else []


CASES = [
    pytest.param(*case, id=" ".join(case[0]))
    for page in ("concepts/reliability.md", "reference/security.md")
    for case in commands(page)
]


@pytest.mark.parametrize(("paths", "words"), CASES)
def test_names_in_a_row_exist(paths, words):
    assert [path for path in paths if not (ROOT / path).exists()] == []
    names = {name for path in paths for name in names_in(ROOT / path)}
    assert names
    assert [word for word in words if not any(word in name for name in names)] == []


def test_many_rows_have_tests():
    assert len(CASES) > 40


def names_in(path):
    files = [path] if path.is_file() else path.rglob("test_*.py")
    return {name for file in files for name in re.findall(r"^def (test_\w+)", file.read_text("utf-8"), re.MULTILINE)}
