"""What the arms of a comparison set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stepgrid.model.plan import Axis, Option, PlannedBuild, PlannedStage, PlannedStep
from stepgrid.plan.difference import Link
from stepgrid.summarize.notes.arm_settings import MOST_INPUTS, ArmSettings, arm_settings
from tests.summarize import made

OPTIONS: dict[str, dict[str, Any]] = {
    "lru-old": {"cache_size": 8 << 20, "open_files": -1},
    "hyper-old": {"cache_size": 8 << 20, "cache_type": "hyper", "open_files": -1},
    "big-old": {"cache_size": 64 << 20, "open_files": -1},
    "lru-new": {"cache_size": 8 << 20},
    "hyper-new": {"cache_size": 8 << 20, "block_cache": "hyper"},
    "big-new": {"cache_size": 64 << 20},
}


def _link(name: str, options: Mapping[str, Any], seed: int = 7) -> Link:
    asked = {key: Option(value) for key, value in options.items()}
    step = PlannedStep("readww", "db_bench", 1, {"threads": 1}, asked, seed)
    build = name.partition("-")[2] or name
    stage = PlannedStage(name, name, f"b-{build}", None, (), 0, 0, "h-1", (step,), 8, 0)
    return Link.of(stage, lambda node: PlannedBuild(node, build, "rocksdb", "1", {}))


def _found(labels: Sequence[str], builds: Sequence[str]) -> list[ArmSettings]:
    cells = [
        made.cell({"build": build, "cache": label}, f"{label}-{build}", build) for build in builds for label in labels
    ]
    axes = (Axis("build", tuple(builds)), Axis("cache", tuple(labels)))
    return list(arm_settings(cells, axes, lambda chain: [_link(node, OPTIONS[node]) for node in chain]))


def test_each_arm_has_the_value_of_what_differs() -> None:
    (found,) = _found(["lru", "hyper", "big"], ["old"])
    assert found.rows == (
        ("cache_type", ("not set", "hyper", "not set")),
        ("cache_size", ("8 MiB", "8 MiB", "64 MiB")),
    )
    assert list(found.sentences) == [
        ("cache=lru", "cache_type not set; cache_size 8 MiB"),
        ("cache=hyper", "cache_type hyper; cache_size 8 MiB"),
        ("cache=big", "cache_type not set; cache_size 64 MiB"),
    ]
    assert found.table.title == "what cache sets"
    assert [column.name for column in found.table.columns] == ["cache", "lru", "hyper", "big"]


def test_what_only_some_builds_are_told_names_them() -> None:
    (found,) = _found(["lru", "hyper", "big"], ["old", "new"])
    assert found.rows == (
        ("cache_type (old)", ("not set", "hyper", "not set")),
        ("cache_size", ("8 MiB", "8 MiB", "64 MiB")),
        ("block_cache (new)", ("not set", "hyper", "not set")),
    )


def test_a_label_that_is_the_value_says_it_already() -> None:
    threads = {f"{count}-old": {"threads": count} for count in (1, 2)}
    OPTIONS.update({name: {"max_jobs": said["threads"]} for name, said in threads.items()})
    assert _found(["1", "2"], ["old"]) == []


def test_other_seeds_are_nothing_that_an_arm_sets() -> None:
    seeds = {"lru-x": 1, "big-x": 2}
    cells = [made.cell({"cache": label}, label) for label in seeds]
    axes = (Axis("cache", tuple(seeds)),)
    assert not list(arm_settings(cells, axes, lambda chain: [_link(n, {}, seeds[n]) for n in chain]))


def test_a_point_without_a_cell_has_no_value() -> None:
    cells = [made.cell({"cache": label}, f"{label}-old") for label in ("lru", "big")]
    axes = (Axis("cache", ("lru", "hyper", "big")),)
    links = lambda chain: [_link(node, OPTIONS[node]) for node in chain]  # noqa: E731
    (found,) = arm_settings(cells, axes, links)
    assert found.rows == (("cache_size", ("8 MiB", "-", "64 MiB")),)
    assert [said for _, said in found.sentences] == ["cache_size 8 MiB", "", "cache_size 64 MiB"]


def test_of_many_inputs_the_first_are_shown_and_the_rest_counted() -> None:
    rows = tuple((f"option{index}", ("1", "2")) for index in range(MOST_INPUTS + 3))
    found = ArmSettings("preset", ("small", "large"), rows)
    assert len(found.table.rows) == MOST_INPUTS
    assert found.table.notes == ("and 3 more: `stepgrid explain SPEC` has all",)
    assert [said.rpartition("; ")[2] for _, said in found.sentences] == ["and 3 more", "and 3 more"]
