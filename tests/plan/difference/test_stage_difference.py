"""Inputs that differ between two stages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stepgrid.model.plan import Plan
from stepgrid.plan.difference import UNSET, Input, Link, differences

Compile = Callable[..., Plan]

SPEC = """\
title: t
builds: {rocksdb: {engine: rocksdb, version: 7.8.3, source: {debian: rocksdb-tools, suite: sid}}}
options: [{cache_size: 1GiB, bloom_bits: 10}]
steps:
  - {name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true, duration: null}
  - checkpoint: loaded
  - {name: readww, kind: db_bench, benchmarks: [readwhilewriting], duration: 1m}
params: {keys: 200k}
"""


def chain(plan: Plan) -> list[Link]:
    stages = {stage.id: stage for stage in plan.stages}
    builds = {build.id: build for build in plan.builds}
    return [Link.of(stages[node], builds.__getitem__) for node in plan.cells[0].repeats[0].stages]


def between(compile_text: Compile, *edits: tuple[str, str]) -> tuple[Input, ...]:
    new = SPEC
    for old_text, new_text in edits:
        assert old_text in new
        new = new.replace(old_text, new_text)
    return differences(chain(compile_text(SPEC)), chain(compile_text(new)))


def named(found: tuple[Input, ...]) -> list[tuple[str, Any, Any]]:
    return [(each.field, each.old, each.new) for each in found]


def test_nothing_differs_between_equal_stages(compile_text: Compile) -> None:
    assert between(compile_text, ("title: t", "title: u")) == ()


def test_an_option_of_many_steps_is_said_once_with_its_place(compile_text: Compile) -> None:
    assert between(compile_text, ("1GiB", "2GiB")) == (Input("options.cache_size", 2**30, 2**31, "a.yaml:3:12"),)


def test_what_was_not_set_is_not_null(compile_text: Compile) -> None:
    (added,) = between(compile_text, ("bloom_bits: 10", "bloom_bits: 10, open_files: 5"))
    assert (added.field, added.old, added.new) == ("options.open_files", UNSET, 5)
    (removed,) = between(compile_text, (", bloom_bits: 10", ""))
    assert (removed.field, removed.old, removed.new) == ("options.bloom_bits", 10, UNSET)


def test_numbers_booleans_and_text_are_apart(compile_text: Compile) -> None:
    assert named(between(compile_text, ("bloom_bits: 10", "bloom_bits: 10.0"))) == [("options.bloom_bits", 10, 10.0)]


def test_settings_builds_and_steps(compile_text: Compile) -> None:
    assert named(between(compile_text, ("200k", "300k"))) == [("params.keys", 200000, 300000)]
    assert named(between(compile_text, ("duration: 1m", "duration: 2m"))) == [("params.duration", 60.0, 120.0)]
    assert named(between(compile_text, ("7.8.3", "9.10.0"))) == [("build.version", "7.8.3", "9.10.0")]
    assert named(between(compile_text, ("suite: sid", "suite: trixie"))) == [("build.source.suite", "sid", "trixie")]
    more = "  - {name: again, kind: db_bench, benchmarks: [readrandom], duration: 1m}\nparams"
    assert named(between(compile_text, ("params", more))) == [("steps", ["readww"], ["readww", "again"])]
    assert named(between(compile_text, ("  - checkpoint: loaded\n", ""))) == [
        ("steps", ["fillseq"], ["fillseq", "readww"]),
        ("checkpoints before it", 1, 0),
    ]


def test_a_source_within_the_source(compile_text: Compile) -> None:
    jar = "source: {maven: 'a:b:1', tree: {git: 'https://host.example/a.git', ref: v%d}}"
    debian = "source: {debian: rocksdb-tools, suite: sid}"
    old, new = (chain(compile_text(SPEC.replace(debian, jar % number))) for number in (1, 2))
    assert named(differences(old, new)) == [("build.source.tree.ref", "v1", "v2")]


def test_a_policy_a_seed_and_a_revision_count(compile_text: Compile) -> None:
    dropped = ("bloom_bits: 10", "bloom_bits: {value: 10, when_unsupported: drop}")
    assert named(between(compile_text, dropped)) == [("options.bloom_bits.when_unsupported", "error", "drop")]
    seeds = between(compile_text, ("params:", "seed: 2\nparams:"))
    assert [each.field for each in seeds] == ["fillseq: seed", "readww: seed"]
    old = chain(compile_text(SPEC))
    step = replace(old[0].stage.steps[0], revision=7)
    new = [Link(replace(old[0].stage, steps=(step,)), old[0].build), old[1]]
    assert named(differences(old, new)) == [("revision of db_bench", old[0].stage.steps[0].revision, 7)]


def test_a_binary_that_changed_under_the_same_name(compile_text: Compile) -> None:
    old = chain(compile_text(SPEC))
    new = [Link(link.stage, replace(link.build, id="b-other")) for link in old]
    assert named(differences(old, new)) == [("build", old[0].build.id, "b-other")]


def test_a_client_is_told_by_what_it_is_made_of(compile_text: Compile) -> None:
    text = """\
title: t
builds: {mariadb: {engine: mariadb, version: 11.8.1, source: {system: mariadbd}}}
define:
  builds:
    one: {engine: sysbench, version: 1.0.20, source: {debian: sysbench, suite: bookworm}}
    two: {engine: sysbench, version: 1.0.20, source: {debian: sysbench, suite: trixie}}
steps: [{name: point, kind: sysbench, lua: point_query, duration: 1s, rows: 10, client: %s}]
"""
    old, new = (chain(compile_text(text % name)) for name in ("one", "two"))
    assert differences(old, new) == (Input("client.source.suite", "bookworm", "trixie", "a.yaml:6:5"),)
    without = [Link(replace(old[0].stage, steps=(replace(old[0].stage.steps[0], setup={}),)), old[0].build)]
    assert ("client", UNSET, "two") in named(differences(without, new))


def test_a_file_is_told_by_its_checksum(compile_text: Compile) -> None:
    old = chain(compile_text(SPEC))
    steps = [replace(old[0].stage.steps[0], setup={"files": {"a.lua": digit * 64}}) for digit in "12"]
    before, after = ([Link(replace(old[0].stage, steps=(step,)), old[0].build)] for step in steps)
    assert named(differences(before, after)) == [("files.a.lua", "1" * 12, "2" * 12)]
