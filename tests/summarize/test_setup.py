"""Setup of a report: what arms, steps and builds have, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stepgrid.model.plan import Axis, Option, PlannedBuild, PlannedStage, PlannedStep
from stepgrid.plan.difference import Link
from stepgrid.store.paths import SUMMARY_PAGE, SUMMARY_TEXT
from stepgrid.summarize.setup import (
    MOST_OPTIONS,
    ArmSettings,
    Defaults,
    StepSettings,
    arm_settings,
    common_settings,
    step_settings,
)
from tests.summarize import made, scenario
from tests.summarize.synthetic import Experiment

NOT_SET = "not set"
OPTIONS: dict[str, dict[str, Any]] = {
    "lru-old": {"cache_size": 8 << 20, "open_files": -1},
    "hyper-old": {"cache_size": 8 << 20, "cache_type": "hyper", "open_files": -1},
    "big-old": {"cache_size": 64 << 20, "open_files": -1},
    "lru-new": {"cache_size": 8 << 20},
    "hyper-new": {"cache_size": 8 << 20, "block_cache": "hyper"},
    "big-new": {"cache_size": 64 << 20},
    "1-old": {"max_jobs": 1},
    "2-old": {"max_jobs": 2},
}


def link(*steps: PlannedStep, build: str = "b") -> Link:
    stage = PlannedStage("s", "s", f"b-{build}", None, (), 0, 0, "h-1", steps, 8, 0)
    return Link.of(stage, lambda node: PlannedBuild(node, build, "rocksdb", "1", {}))


def step(name: str, options: Mapping[str, Any] = {}, seed: int = 7, **settings: Any) -> PlannedStep:
    return PlannedStep(name, "db_bench", 1, settings, {key: Option(value) for key, value in options.items()}, seed)


# Arms


def arms_of(builds: Sequence[str], labels: Sequence[str], axis: Sequence[str] = (), seeds: bool = False) -> Any:
    """Settings of the axis `cache`, whose cells have these labels."""
    pairs = [(build, label) for build in builds for label in labels]
    cells = [made.cell({"build": build, "cache": label}, f"{label}-{build}", build) for build, label in pairs]
    axes = (Axis("build", tuple(builds)), Axis("cache", tuple(axis or labels)))

    def links(chain: Sequence[str]) -> list[Link]:
        label, _, build = chain[0].partition("-")
        return [link(step("readww", {} if seeds else OPTIONS[chain[0]], len(label) if seeds else 7), build=build)]

    return list(arm_settings(cells, axes, links))


def test_each_arm_has_the_value_of_what_differs() -> None:
    (found,) = arms_of(["old"], ["lru", "hyper", "big"])
    assert found.rows == (("cache_type", (NOT_SET, "hyper", NOT_SET)), ("cache_size", ("8 MiB", "8 MiB", "64 MiB")))
    assert list(found.sentences) == [
        ("cache=lru", "cache_type not set; cache_size 8 MiB"),
        ("cache=hyper", "cache_type hyper; cache_size 8 MiB"),
        ("cache=big", "cache_type not set; cache_size 64 MiB"),
    ]
    assert (found.table.title, [column.name for column in found.table.columns[1:]]) == (
        "what cache sets",
        ["lru", "hyper", "big"],
    )
    (found,) = arms_of(["old", "new"], ["lru", "hyper", "big"])
    assert [name for name, _ in found.rows] == ["cache_type (old)", "cache_size", "block_cache (new)"]


def common(
    my: Mapping[str, Any], pg: Mapping[str, Any], settings: Sequence[ArmSettings] = (), load: Mapping[str, Any] = {}
) -> list[tuple[str, str]]:
    """Settings of two builds, whose cache an axis changes; `load`: of the load alone."""
    options = {"my": my, "pg": pg}
    labels = [(build, cache) for build in options for cache in ("all", "half")]
    cells = [made.cell({"build": build, "cache": cache}, f"{build} {cache}", build) for build, cache in labels]

    def links(chain: Sequence[str]) -> list[Link]:
        build, cache = chain[0].split()
        values = {**options[build], "cache_size": 2**28 if cache == "all" else 2**20}
        return [link(step("load", {**values, **load}), step("read", values))]

    axes = (Axis("build", ("my", "pg")), Axis("cache", ("all", "half")))
    return list(common_settings(cells, axes, links, settings))


def test_settings_of_all_arms() -> None:
    sync = {"sync": False, "log_size": 2**30}
    off = {"sync": "off"}
    assert common(sync, sync) == [("all arms", "sync false; log_size 1 GiB")]
    assert common({"flush_log": 2}, off) == [("all of my", "flush_log 2"), ("all of pg", "sync off")]
    assert common(off, off, [ArmSettings("cache", ("all", "half"), (("sync (my)", ("off", "on")),))]) == []
    assert common(off, off, load={"disable_wal": True}) == [("all arms", "sync off; disable_wal true (load)")]
    many = {f"option_{at:02}": at for at in range(MOST_OPTIONS + 3)}
    ((_, text),) = common(many, many)
    assert text.endswith("; option_23 23; and 3 more: `stepgrid explain SPEC` has all")


# Steps


def steps_of(kind: str, *settings: dict[str, Any]) -> list[StepSettings]:
    """Settings of a step in cells that differ in them."""
    usual = {"benchmarks": ["readrandom", "stats"], "duration": None, "fresh": False}
    labels = [str(index) for index in range(len(settings))]

    def links(chain: Sequence[str]) -> list[Link]:
        return [link(replace(step("read", **usual, **settings[int(chain[0])]), kind=kind))]

    return step_settings([made.cell({"arm": label}, label) for label in labels], (Axis("arm", tuple(labels)),), links)


def test_settings_of_a_step() -> None:
    def texts(*settings: dict[str, Any]) -> str:
        (found,) = steps_of("db_bench", *settings)
        return found.settings.removeprefix("benchmarks [readrandom, stats]; ")

    assert texts({"threads": 1, "reads": None, "keys": 100}) == "keys 100", "others are as usual"
    assert texts(*({"threads": threads, "keys": 5} for threads in (1, 4, 8))) == "threads 1 or 4 or 8; keys 5"
    assert texts(*({"keys": 10 * count} for count in (1, 2, 3, 4, 5))) == "keys 10 or 20 or 30 or 2 more"
    (found,) = steps_of("my_benchmark", {"speed": 3})  # a kind that is not installed
    assert found == StepSettings("read", "my_benchmark", "benchmarks [readrandom, stats]; fresh false; speed 3")


# Builds

OLD, NEW = scenario.OLD, scenario.NEW
LIBRARY = {"route": "library", "assertions": False, "compiler": "GCC 7.3.1"}
SOURCE = {"route": "source", "assertions": True, "compiler": "GCC 12.2.0", "march": "native"}


def measured(root: Path, *builds: Mapping[str, Any]) -> tuple[Defaults | None, str, str]:
    """Measure two builds with these catalogues of defaults or qualities: return defaults, text and page."""
    found = Experiment(root, builds=(OLD, NEW), caches=("lru",), threads=("1",), loads=1, base={"build": OLD})
    for build, fields in zip((OLD, NEW), builds, strict=True):
        found.add_build(build, **fields)
        file = found.store.build(f"b-{build}") / "build.json"
        file.write_text(file.read_text().replace(f'"name": "{build}"', '"name": "what-another-spec-called-it"'))
        found.add_load(build, 0)
        found.add(build, "lru", "1", 0, {"readww": 10_000, "overwrite": 20_000})
    report = scenario.report(found)
    text, page = (next(root.rglob(name)).read_text(encoding="utf-8") for name in (SUMMARY_TEXT, SUMMARY_PAGE))
    assert [build.name for build in report.setup.builds.values()] == [OLD, NEW]
    assert "what-another-spec-called-it" not in text + page
    return report.setup.defaults, text, page


def test_defaults_that_differ_of_options_that_are_left_alone(tmp_path: Path) -> None:
    """cache_type is what every step but the load sets; benchmarks is the driver's."""
    old = {"readahead": "0", "same": "1", "gone": "1", "benchmarks": "a", "empty": "", "cache_type": "x", "k": "0"}
    new = {"readahead": "2097152", "same": "1.0", "new": "1", "benchmarks": "b", "empty": "z", "cache_type": "y"}
    found, text, page = measured(tmp_path, {"defaults": old}, {"defaults": new | {"k": "2.5169999999999999"}})
    assert found is not None
    assert (found.base, found.compared) == (OLD, (NEW,))
    assert found.rows == (("empty", ("", "z")), ("k", ("0", "2.517")), ("readahead", ("0", "2097152")))
    title = f"defaults that differ from those of {OLD}, of options that the spec leaves alone"
    lines = text.splitlines()
    assert lines[lines.index(title) + 2] == f"  {NEW}: empty empty -> z; k 0 -> 2.517; readahead 0 -> 2097152"
    assert f"3 option defaults changed by {NEW} against {OLD} (listed below)" in page
    assert "<tr><th>readahead</th><th>0</th><th>2097152</th></tr>" in page


def test_a_library_is_labelled_and_gets_no_verdict_beside_a_compiled_one(tmp_path: Path) -> None:
    _, text, page = measured(tmp_path, {"quality": LIBRARY}, {"quality": SOURCE})
    words = " ".join(text.split())
    assert f"{OLD}: 6.11.4 (debian, rocksdb-tools 6.11.4-1, the official library; only db_bench is compiled)" in words
    assert f"no verdict: {OLD} and {NEW} were built differently: assertions no / yes" in words
    assert "quality: made as compiled from source; compiler GCC 12.2.0; -march native; assertions yes" in page


def test_changes_of_defaults() -> None:
    rows = (
        ("optimizer_switch", ("mrr=on,hash_join=off,semijoin=on", "mrr=on,hash_join=on,semijoin=on,skip_scan=on")),
        ("plugins", ("a,b,c", "c,b,a")),
        ("pair", ("a,b", "a,c")),
        ("log_file", ("{basedir}/data/x.log", "/var/lib/x.log")),  # places of files are no difference
        ("relay_log", ("", "{hostname}-relay-bin")),
    )
    assert Defaults("old", ("new",), rows).changes("new") == [
        "optimizer_switch -hash_join=off +hash_join=on +skip_scan=on",
        "plugins in another order",
        "pair a,b -> a,c",
    ]
    found = Defaults("a", ("b", "c", "d"), (("x", ("0", "1", "2", "1")), ("y", ("0", "0", "0", "0"))))
    assert found.groups() == [(("b", "d"), ["x 0 -> 1"]), (("c",), ["x 0 -> 2"])]
