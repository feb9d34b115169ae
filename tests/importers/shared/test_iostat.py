"""Output of iostat in published folders."""

from pathlib import Path

import pytest

from stepgrid_importers.shared import awk, iostat
from stepgrid_published.importer import Faults

PATH = Path("sb.io")


def parsed(text):
    faults = Faults()
    return iostat.parse(text, PATH, faults), list(map(str, faults))


def test_the_samples_are_read(samples):
    found, wrong = parsed((samples / "engines" / "iostat-xtmy.txt").read_text(encoding="utf-8"))
    assert (wrong, found.cores, list(found.devices)) == ([], 2, ["vda"])


@pytest.mark.parametrize(
    ("word", "value"), [("85.19,", 85.19), ("19K", 19), ("-1.5e3x", -1500), ("NA", 0), ("", 0), (".5", 0.5)]
)
def test_a_word_is_the_number_that_it_begins_with(word, value):
    assert awk.number(word) == value
