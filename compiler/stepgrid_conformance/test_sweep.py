"""`--spec FILE`: it means the same in every process, and what was measured is not measured again."""

from __future__ import annotations

from stepgrid_conformance.support import Sweep, refuse


def test_the_spec_is_sound(sweep: Sweep) -> None:
    checked = sweep.stepgrid("check")
    assert ": fine; " in checked, f"`stepgrid check` finds problems:\n{checked}"


def test_identities_are_stable(sweep: Sweep) -> None:
    first = sweep.ids("0")
    for seed in ("1", "2"):
        assert sweep.ids(seed) == first, "ids differ from process to process: sort what comes out of a set"


def test_nothing_is_measured_twice(sweep: Sweep) -> None:
    results = sorted(sweep.folder.glob("outputs/results/*/*"))
    assert results, "the spec has no results"
    sweep.stepgrid("run")
    new_results = sorted({*sweep.folder.glob("outputs/results/*/*")} - {*results})
    refuse("a second run measured again", [path.name for path in new_results])
