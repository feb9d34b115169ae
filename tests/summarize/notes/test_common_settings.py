"""What all arms of a build set stands once, without what an axis changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stepgrid.model.plan import Axis, Option, PlannedBuild, PlannedStage, PlannedStep
from stepgrid.plan.difference import Link
from stepgrid.summarize.notes.arm_settings import ArmSettings
from stepgrid.summarize.notes.common_settings import MOST_OPTIONS, common_settings
from tests.summarize import made

AXES = (Axis("build", ("my", "pg")), Axis("cache", ("all", "half")))


def _found(
    options: Mapping[str, Mapping[str, Any]], settings: Sequence[ArmSettings] = (), more: Mapping[str, Any] = {}
) -> list[tuple[str, str]]:
    """`options`: of a build. `more`: of the load alone."""
    labels = [(build, cache) for build in options for cache in ("all", "half")]
    cells = [made.cell({"build": build, "cache": cache}, f"{build} {cache}", build) for build, cache in labels]

    def links(chain: Sequence[str]) -> list[Link]:
        build, cache = chain[0].split()
        said = {**options[build], "cache_size": 2**28 if cache == "all" else 2**20}
        planned = {name: Option(value) for name, value in said.items()}
        loads = {**planned, **{name: Option(value) for name, value in more.items()}}
        steps = (PlannedStep("load", "db_bench", 1, {}, loads, 7), PlannedStep("read", "db_bench", 1, {}, planned, 7))
        stage = PlannedStage("s", "s", "b-b", None, (), 0, 0, "h-1", steps, 8, 0)
        return [Link.of(stage, lambda node: PlannedBuild(node, "b", "rocksdb", "1", {}))]

    return list(common_settings(cells, AXES, links, settings))


def test_what_all_builds_set_alike_is_of_all_arms() -> None:
    sync = {"sync": False, "log_size": 2**30}
    assert _found({"my": sync, "pg": sync}) == [("all arms", "sync false; log_size 1 GiB")]


def test_what_one_build_sets_names_it() -> None:
    assert _found({"my": {"flush_log": 2}, "pg": {"synchronous_commit": "off"}}) == [
        ("all of my", "flush_log 2"),
        ("all of pg", "synchronous_commit off"),
    ]


def test_what_an_axis_changes_is_no_part_of_it() -> None:
    changed = ArmSettings("cache", ("all", "half"), (("sync (my)", ("off", "on")),))
    assert _found({"my": {"sync": "off"}, "pg": {"sync": "off"}}, [changed]) == []


def test_of_many_the_rest_is_counted() -> None:
    many = {f"option_{at:02}": at for at in range(MOST_OPTIONS + 3)}
    ((_, said),) = _found({"my": many, "pg": many})
    assert said.endswith("; option_23 23; and 3 more: `stepgrid explain SPEC` has all")


def test_what_only_some_steps_set_says_which() -> None:
    found = _found({"my": {"sync": "off"}, "pg": {"sync": "off"}}, more={"disable_wal": True})
    assert found == [("all arms", "sync off; disable_wal true (load)")]
