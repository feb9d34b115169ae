"""`--spec FILE`: it means the same in every process, and what was measured is not measured again."""

from __future__ import annotations

from stepgrid.conformance.sweep import Sweep


def test_the_spec_is_sound(sweep: Sweep) -> None:
    assert ": fine; " in sweep.stepgrid("check")


def test_identities_are_stable(sweep: Sweep) -> None:
    assert sweep.ids("0") == sweep.ids("1") == sweep.ids("2")


def test_nothing_is_measured_twice(sweep: Sweep) -> None:
    results = sorted(sweep.folder.glob("outputs/results/*/*"))
    assert results
    sweep.stepgrid("run")
    assert sorted(sweep.folder.glob("outputs/results/*/*")) == results
