"""Setup of a report: what arms, steps and builds have, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.plan import Axis, Option, PlannedBuild, PlannedStage, PlannedStep
from stepgrid.plan.difference import Link
from stepgrid.store.paths import SUMMARY_PAGE, SUMMARY_TEXT
from stepgrid.summarize.report import Report
from stepgrid.summarize.setup import (
    MOST_INPUTS,
    MOST_OPTIONS,
    ArmSettings,
    Defaults,
    StepSettings,
    arm_settings,
    common_settings,
    step_sentences,
    step_settings,
    step_table,
    steps_in_brief,
)
from tests.summarize import made, scenario
from tests.summarize.synthetic import Experiment

# Arms

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


def arms_of(labels: Sequence[str], builds: Sequence[str]) -> list[ArmSettings]:
    cells = [
        made.cell({"build": build, "cache": label}, f"{label}-{build}", build) for build in builds for label in labels
    ]
    axes = (Axis("build", tuple(builds)), Axis("cache", tuple(labels)))
    return list(arm_settings(cells, axes, lambda chain: [_link(node, OPTIONS[node]) for node in chain]))


def test_each_arm_has_the_value_of_what_differs() -> None:
    (found,) = arms_of(["lru", "hyper", "big"], ["old"])
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
    (found,) = arms_of(["lru", "hyper", "big"], ["old", "new"])
    assert found.rows == (
        ("cache_type (old)", ("not set", "hyper", "not set")),
        ("cache_size", ("8 MiB", "8 MiB", "64 MiB")),
        ("block_cache (new)", ("not set", "hyper", "not set")),
    )


def test_a_label_that_is_the_value_says_it_already() -> None:
    threads = {f"{count}-old": {"threads": count} for count in (1, 2)}
    OPTIONS.update({name: {"max_jobs": threads_of["threads"]} for name, threads_of in threads.items()})
    assert arms_of(["1", "2"], ["old"]) == []


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


# Settings of all arms

AXES = (Axis("build", ("my", "pg")), Axis("cache", ("all", "half")))


def common(
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
    assert common({"my": sync, "pg": sync}) == [("all arms", "sync false; log_size 1 GiB")]


def test_what_one_build_sets_names_it() -> None:
    assert common({"my": {"flush_log": 2}, "pg": {"synchronous_commit": "off"}}) == [
        ("all of my", "flush_log 2"),
        ("all of pg", "synchronous_commit off"),
    ]


def test_what_an_axis_changes_is_no_part_of_it() -> None:
    changed = ArmSettings("cache", ("all", "half"), (("sync (my)", ("off", "on")),))
    assert common({"my": {"sync": "off"}, "pg": {"sync": "off"}}, [changed]) == []


def test_of_many_the_rest_is_counted() -> None:
    many = {f"option_{at:02}": at for at in range(MOST_OPTIONS + 3)}
    ((_, said),) = common({"my": many, "pg": many})
    assert said.endswith("; option_23 23; and 3 more: `stepgrid explain SPEC` has all")


def test_what_only_some_steps_set_says_which() -> None:
    found = common({"my": {"sync": "off"}, "pg": {"sync": "off"}}, more={"disable_wal": True})
    assert found == [("all arms", "sync off; disable_wal true (load)")]


# Steps

READ = {"benchmarks": ["readrandom", "stats"], "duration": None, "fresh": False}


def _links(**steps: dict[str, Any]) -> list[Link]:
    planned = tuple(
        PlannedStep(name, said.get("kind", "db_bench"), 1, {**READ, **said["settings"]}, {}, 7)
        for name, said in steps.items()
    )
    stage = PlannedStage("s", "s", "b-b", None, (), 0, 0, "h-1", planned, 8, 0)
    return [Link.of(stage, lambda node: PlannedBuild(node, "b", "rocksdb", "1", {}))]


def steps_of(kind: str, *settings: dict[str, Any]) -> list[StepSettings]:
    labels = [str(index) for index in range(len(settings))]
    told = {"kind": kind}
    return step_settings(
        [made.cell({"arm": label}, label) for label in labels],
        (Axis("arm", tuple(labels)),),
        lambda chain: _links(read={**told, "settings": settings[int(chain[0])]}),
    )


def test_settings_that_are_as_usual_are_left_out() -> None:
    found = steps_of("db_bench", {"duration": 60.0, "threads": 1, "reads": None, "keys": 100})
    said = "benchmarks [readrandom, stats]; duration 60 s; keys 100"
    assert [replace(each, meaning=()) for each in found] == [StepSettings("read", "db_bench", said)]


def test_a_setting_that_an_axis_changes_has_all_values_also_the_usual_one() -> None:
    (found,) = steps_of("db_bench", {"threads": 1, "keys": 5}, {"threads": 4, "keys": 5}, {"threads": 8, "keys": 5})
    assert found.settings == "benchmarks [readrandom, stats]; threads 1 or 4 or 8; keys 5"


def test_of_many_values_the_first_are_named() -> None:
    (found,) = steps_of("db_bench", *({"keys": 10 * count} for count in (1, 2, 3, 4, 5)))
    assert found.settings == "benchmarks [readrandom, stats]; keys 10 or 20 or 30 or 2 more"


def test_of_a_kind_that_is_not_installed_all_settings_are_said() -> None:
    (found,) = steps_of("my_benchmark", {"speed": 3})
    assert found == StepSettings("read", "my_benchmark", "benchmarks [readrandom, stats]; fresh false; speed 3")
    assert [cell.text for cell in step_table([found], {}).rows[0]][:2] == ["read", "my_benchmark"]


def test_settings_have_their_units_and_what_they_mean_stands_once() -> None:
    found = steps_of("db_bench", {"duration": 5.0, "write_rate": 2 * 2**20, "keys": 100})
    rates, *_, means = step_sentences([*found, *found], {})
    assert rates.endswith("duration 5 s; write_rate 2 MiB/s; keys 100")
    assert means.count("`duration`: how long a benchmark runs") == 1


def test_a_step_says_how_long_it_took_and_what_it_left() -> None:
    runs = [made.run("a", load, 9.0, seconds=3.0 + load, database_bytes=2.0**20) for load in (0, 1)]
    measured = {"read": (made.point(*runs),)}
    found = steps_of("my_benchmark", {})
    (said,) = step_sentences(found, measured)
    assert said.endswith("; a run took 3.00 s to 4.00 s; database after it 1 MiB")
    assert [cell.text for cell in step_table(found, measured).rows[0]][-2:] == ["3.00 s to 4.00 s", "1 MiB"]


def test_steps_in_brief_with_times_rates_and_size() -> None:
    size = {"database_bytes": 2.0**30}
    slow = made.point(*(made.run("a", load, 1000.0 + load, seconds=20.0, **size) for load in (1, 2, 3)))
    fast = made.point(*(made.run("b", load, 3000.0, seconds=21.0) for load in (1, 2, 3)))
    lacking = made.point(made.run("c", 1, 1.0)).of_loads(lambda load: False)
    assert steps_in_brief({"readww": (slow, fast, lacking)}) == (
        "readww: 20.0 s to 21.0 s, 1,002 to 3,000 QPS; database of 1 GiB"
    )
    many = steps_in_brief({f"step{number}": (fast,) for number in range(12)})
    assert many.endswith("; step9: 21.0 s, 3,000 QPS; 2 more below")
    assert steps_in_brief({}) == steps_in_brief({"readww": (lacking,)}) == ""


# Defaults of builds

OLD, NEW = scenario.OLD, scenario.NEW
LIBRARY = {"route": "library", "assertions": False, "compiler": "GCC 7.3.1", "compressions": ["lz4", "zstd"]}
SOURCE = {"route": "source", "assertions": True, "compiler": "GCC 12.2.0", "march": "native", "compressions": ["lz4"]}


def measured(root: Path, old: dict[str, str] | None, new: dict[str, str] | None, **more: object) -> Report:
    found = Experiment(root, builds=(OLD, NEW), caches=("lru",), threads=("1",), loads=1, base={"build": OLD})
    found.add_build(OLD, defaults=old, **more)  # type: ignore[arg-type]
    found.add_build(NEW, SOURCE if more else None, defaults=new)
    for build in (OLD, NEW):
        found.add_load(build, 0)
        found.add(build, "lru", "1", 0, {"readww": 10_000, "overwrite": 20_000})
    return scenario.report(found)


def text(root: Path) -> str:
    return next(root.rglob(SUMMARY_TEXT)).read_text(encoding="utf-8")


def page(root: Path) -> str:
    return next(root.rglob(SUMMARY_PAGE)).read_text(encoding="utf-8")


def test_only_options_that_are_left_alone_and_differ(tmp_path: Path) -> None:
    """cache_type is what every step but the load says; benchmarks is the driver's."""
    old = {"readahead": "0", "same": "1", "gone": "1", "benchmarks": "a", "empty": "", "cache_type": "x"}
    new = {"readahead": "2097152", "same": "1.0", "new": "1", "benchmarks": "b", "empty": "z", "cache_type": "y"}
    found = measured(tmp_path, old, new).setup.defaults
    assert found is not None
    assert (found.base, found.compared) == (OLD, (NEW,))
    assert found.rows == (("empty", ("", "z")), ("readahead", ("0", "2097152")))
    assert f"2 option defaults changed by {NEW} against {OLD} (listed below)" in page(tmp_path)
    lines = text(tmp_path).splitlines()
    title = f"defaults that differ from those of {OLD}, of options that the spec leaves alone"
    assert lines[lines.index(title) + 2] == f"  {NEW}: empty empty -> z; readahead 0 -> 2097152"
    assert "<tr><th>readahead</th><th>0</th><th>2097152</th></tr>" in page(tmp_path)


def test_builds_with_the_same_differences_share_a_line() -> None:
    found = Defaults("a", ("b", "c", "d"), (("x", ("0", "1", "2", "1")), ("y", ("0", "0", "0", "0"))))
    assert found.groups() == [(("b", "d"), ["x 0 -> 1"]), (("c",), ["x 0 -> 2"])]


def test_a_number_has_the_digits_that_say_it(tmp_path: Path) -> None:
    measured(tmp_path, {"iter_k": "0"}, {"iter_k": "2.5169999999999999"})
    assert f"  {NEW}: iter_k 0 -> 2.517\n" in text(tmp_path)


@pytest.mark.parametrize(("old", "new"), [(None, {"a": "1"}), ({"a": "1"}, None), ({"a": "1"}, {"a": "1"})])
def test_without_both_catalogues_or_a_difference(
    tmp_path: Path, old: dict[str, str] | None, new: dict[str, str] | None
) -> None:
    assert measured(tmp_path, old, new).setup.defaults is None
    assert "defaults that differ" not in text(tmp_path)
    assert 'id="defaults"' not in page(tmp_path)


def test_a_library_is_labelled_and_gets_no_verdict_beside_a_compiled_one(tmp_path: Path) -> None:
    measured(tmp_path, None, None, quality=LIBRARY)
    said = " ".join(text(tmp_path).split())
    assert f"{OLD}: 6.11.4 (debian, rocksdb-tools 6.11.4-1, the official library; only db_bench is compiled)" in said
    assert f"{OLD}: the official library, with db_bench compiled against it" in said
    assert f"no verdict: {OLD} and {NEW} were built differently: assertions no / yes" in said
    assert "quality: made as compiled from source; compiler GCC 12.2.0; -march native; assertions yes" in page(tmp_path)


def test_builds_are_called_as_the_spec_calls_them(tmp_path: Path) -> None:
    """Another spec made them, under names that nobody who reads this report has heard of."""
    found = Experiment(tmp_path, builds=(OLD, NEW), caches=("lru",), threads=("1",), loads=1, base={"build": OLD})
    for build in (OLD, NEW):
        found.add_build(build)
        file = found.store.build(f"b-{build}") / "build.json"
        file.write_text(file.read_text().replace(f'"name": "{build}"', '"name": "what-another-spec-called-it"'))
        found.add_load(build, 0)
        found.add(build, "lru", "1", 0, {"readww": 10_000, "overwrite": 20_000})
    assert [build.name for build in scenario.report(found).setup.builds.values()] == [OLD, NEW]
    assert "what-another-spec-called-it" not in text(tmp_path) + page(tmp_path)


def test_of_long_lists_what_went_and_what_came() -> None:
    rows = (
        ("optimizer_switch", ("mrr=on,hash_join=off,semijoin=on", "mrr=on,hash_join=on,semijoin=on,skip_scan=on")),
        ("plugins", ("a,b,c", "c,b,a")),
        ("pair", ("a,b", "a,c")),
    )
    assert Defaults("old", ("new",), rows).changes("new") == [
        "optimizer_switch -hash_join=off +hash_join=on +skip_scan=on",
        "plugins in another order",
        "pair a,b -> a,c",
    ]


def test_places_of_files_are_no_difference() -> None:
    rows = (
        ("log_file", ("{basedir}/data/x.log", "/var/lib/x.log")),
        ("relay_log", ("", "{hostname}-relay-bin")),
        ("date", ("1/2", "1/3")),
    )
    assert Defaults("old", ("new",), rows).changes("new") == ["date 1/2 -> 1/3"]
