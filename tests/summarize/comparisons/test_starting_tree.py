from __future__ import annotations

import pytest

from stepgrid.summarize.comparisons.starting_tree import marks

MIB = 2**20
LEVELED = {"L1": [12, 310 * MIB]}


def started(*trees: dict[str, list[float]]) -> list[dict[str, object]]:
    return [{"levels": tree} for tree in trees]


def test_bytes_on_other_levels() -> None:
    other = {"L0": [1, 96 * MIB], "L1": [9, 230 * MIB], "L10": [2, 20 * MIB]}
    assert list(marks(started(other), started(LEVELED))) == [
        "began with 1 file of 96 MiB in L0, 9 of 230 MiB in L1 and 2 of 20 MiB in L10, "
        "the base with 12 files of 310 MiB in L1"
    ]


def test_four_more_files_to_look_into() -> None:
    few, many = {"L0": [1, MIB], **LEVELED}, {"L0": [5, 5 * MIB], **LEVELED}
    assert list(marks(started(many), started(few))) == [
        "began with 5 files of 5 MiB in L0 and 12 of 310 MiB in L1, "
        "the base with 1 file of 1 MiB in L0 and 12 of 310 MiB in L1"
    ]


def test_the_middle_run_counts() -> None:
    arm = started({"L0": [9, 310 * MIB]}, LEVELED, LEVELED)
    assert list(marks(arm, started(LEVELED))) == []


@pytest.mark.parametrize(
    ("arm", "base"),
    [
        (started({"L0": [2, 20 * MIB], "L1": [11, 300 * MIB]}), started(LEVELED)),
        (started(LEVELED), [{}]),
        ([], []),
    ],
)
def test_nothing_is_told_of_what_is_alike_or_not_known(
    arm: list[dict[str, object]], base: list[dict[str, object]]
) -> None:
    assert list(marks(arm, base)) == []
