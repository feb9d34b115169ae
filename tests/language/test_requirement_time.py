"""A requirement of a stranger is read in time in proportion to its length, whatever it is made of."""

import time

import pytest

from stepgrid.language.requirements import RequirementsError, parse_requirement

LENGTH, SECONDS = 16_000, 0.1  # the square of the length takes a second, its third power a day


@pytest.mark.parametrize("tail", ["[", "\0", ";\0"])
@pytest.mark.parametrize("unit", [" ", "a", "a-", " ,<1", " x", "(", "'", "0", " --hash=sha256:", "\t"])
@pytest.mark.parametrize("beginning", ["a", "a<", "a[", "a<1", "a;x", "a --hash=sha256:"])
def test_a_hostile_text(beginning: str, unit: str, tail: str) -> None:
    began = time.process_time()
    with pytest.raises(RequirementsError):
        parse_requirement(beginning + unit * (LENGTH // len(unit)) + tail)
    assert time.process_time() - began < SECONDS
