"""Exact texts in files: `golden(text)` compares, `make golden` writes the files anew."""

from collections.abc import Callable
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent / "golden"
OPTION = "--update-golden"
Golden = Callable[[str], None]


@pytest.fixture
def golden(request):
    """Compare a text with the file of the test; a second one in the same test has a number."""
    test = Path(request.node.path).relative_to(FOLDER.parent).with_suffix("")
    count = 0

    def compare(text):
        nonlocal count
        count += 1
        name = request.node.name.removeprefix("test_") + (f".{count}" if count > 1 else "")
        file = FOLDER / test.parent / test.name.removeprefix("test_") / f"{name}.txt"
        if request.config.getoption(OPTION):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8"), f"{file} differs: `make golden` writes it anew"

    return compare


def is_compared(item):
    return "golden" in getattr(item, "fixturenames", ())
