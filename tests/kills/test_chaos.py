"""A small sweep under a few seeded blows; bench/chaos.py does it a hundred times, builds included."""

import os
import random
import shutil

import pytest

from bench.chaos import undisturbed
from bench.havoc import SPEC, Checkout, Havoc
from bench.remains import remains

SMALL = "\n".join(line for line in SPEC.splitlines() if "overwrite" not in line).replace("loads: 2", "loads: 1") + "\n"
SEED, BLOWS = 11, 7


def begin(depot, folder):
    checkout = Checkout(folder)
    (folder / "spec.yaml").write_text(SMALL, encoding="utf-8")
    shutil.copytree(depot / "builds", folder / "outputs" / "builds", copy_function=os.link, symlinks=True)
    return checkout


@pytest.mark.nightly
def test_nothing_is_lost_repeated_or_left_behind(depot, tmp_path):
    begin(depot, tmp_path / "undisturbed")
    length = undisturbed(tmp_path / "undisturbed", SMALL)
    assert length.results == 5
    dice, struck = random.Random(SEED), 0
    while struck < BLOWS - 1:  # where the undisturbed run was the slower one, a sweep is over before its last blows
        sweep = tmp_path / f"sweep-{struck}"
        havoc = Havoc(begin(depot, sweep), length, max(BLOWS - struck, 3), dice, say=lambda _: None)
        havoc.run()
        assert havoc.struck, "no blow of a whole sweep fell"
        struck += havoc.struck.total()
        assert remains(sweep, tmp_path / "undisturbed") == []
