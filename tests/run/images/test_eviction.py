"""Which images go first, for any set of images: also such that share files."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from stepgrid.run.disk import Candidate, choose, freed_bytes, order
from stepgrid.store.images import Image
from stepgrid.store.paths import Blocks


def image(stage: str, used: float, *files: tuple[int, int, int], needed: bool = False) -> Candidate:
    """`files`: inode, bytes, links."""
    blocks = {(1, inode): Blocks(size, 1, links) for inode, size, links in files}
    return Candidate(Image(stage, Path(stage), stage, used, blocks), needed)


def names(found: list[Candidate] | None) -> list[str] | None:
    return None if found is None else [each.image.stage for each in found]


OLD, NEW, NEEDED = image("old", 1, (1, 10, 1)), image("new", 2, (2, 10, 1)), image("needed", 0, (3, 10, 1), needed=True)


def test_the_least_lately_used_goes_first_and_what_the_run_needs_last() -> None:
    assert names(order([NEEDED, NEW, OLD])) == ["old", "new", "needed"]
    assert names(choose([NEEDED, NEW, OLD], 0)) == []
    assert names(choose([NEEDED, NEW, OLD], 10)) == ["old"]
    assert names(choose([NEEDED, NEW, OLD], 11)) == ["old", "new"]
    assert names(choose([NEEDED, NEW, OLD], 30)) == ["old", "new", "needed"]


def test_nothing_goes_where_all_would_not_do() -> None:
    assert choose([NEEDED, NEW, OLD], 31) is None


def test_a_file_counts_when_the_last_image_that_has_it_goes() -> None:
    load, aged = image("load", 1, (1, 100, 2), (2, 5, 1)), image("aged", 2, (1, 100, 2))
    assert freed_bytes([load]) == 5
    assert freed_bytes([load, aged]) == 105
    assert names(choose([load, aged], 6)) == ["load", "aged"]
    assert freed_bytes([image("live", 1, (1, 100, 2))]) == 0  # a database in use has the other link


def test_one_that_frees_nothing_is_spared() -> None:
    shared = image("shared", 0, (9, 50, 2))
    assert names(choose([shared, OLD], 10)) == ["old"]


CANDIDATES = st.lists(
    st.tuples(
        st.integers(0, 5),  # used
        st.booleans(),
        st.dictionaries(st.integers(0, 6), st.integers(1, 3), max_size=4),  # inode -> links beside those of the images
    ),
    max_size=6,
)


def made(drawn: list[tuple[int, bool, dict[int, int]]]) -> list[Candidate]:
    names = Counter(inode for _, _, files in drawn for inode in files)
    extra = {inode: more - 1 for _, _, files in drawn for inode, more in files.items() if more < 3}
    return [
        image(f"s{n}", used, *((i, 10 + i, names[i] + extra.get(i, 0)) for i in files), needed=needed)
        for n, (used, needed, files) in enumerate(drawn)
    ]


@given(CANDIDATES, st.integers(0, 80))
def test_what_is_chosen_frees_enough_no_more_than_it_must_and_in_order(
    drawn: list[tuple[int, bool, dict[int, int]]], wanted: int
) -> None:
    candidates = made(drawn)
    found = choose(candidates, wanted)
    if found is None:
        assert freed_bytes(candidates) < wanted
        return
    assert freed_bytes(found) >= wanted
    assert all(freed_bytes([other for other in found if other is not each]) < wanted for each in found)
    ordered = order(candidates)
    assert [ordered.index(each) for each in found] == sorted(ordered.index(each) for each in found)
    idle = [each for each in candidates if not each.needed]
    if freed_bytes(idle) >= wanted:
        assert not any(each.needed for each in found)


@given(CANDIDATES)
def test_more_images_never_free_less(drawn: list[tuple[int, bool, dict[int, int]]]) -> None:
    candidates = made(drawn)
    for one, other in combinations(candidates, 2):
        assert freed_bytes([one, other]) >= freed_bytes([one]) + freed_bytes([other])
