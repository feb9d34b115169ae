"""A build's id under a lock file: pins that say what was built change nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from stepgrid.language import lock_file
from stepgrid.model.plan import PlannedBuild
from stepgrid.plan.assembly import Context, ExistingBuild, compile_spec

HOST = {"cpu": "a", "cores": 2, "memory": 2**33}
SPEC = """\
title: t
builds: {r: {engine: rocksdb, version: 1.0.1, source: {maven: "org.rocksdb:rocksdbjni"}}}
steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}]
params: {keys: 1M}
"""
JAR = "maven org.rocksdb:rocksdbjni:1.0.1 linux64"
TREE = "git https://github.com/facebook/rocksdb.git v1.0.1"
CHECKSUM, COMMIT, OTHER = "5ec0ffee" * 8, "5ec0ffee" * 5, "0ddba11a" * 5
BOTH = {JAR: f"sha256:{CHECKSUM}", TREE: COMMIT}
GFLAGS = "c0ffee00" * 8  # an artifact that no pin is about

Planned = Callable[..., PlannedBuild]


@pytest.fixture
def planned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planned:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(SPEC)

    def planned(pins: Mapping[str, str], made: Mapping[str, ExistingBuild] | None = None) -> PlannedBuild:
        lock_file.path("a.yaml").write_text(lock_file.text(pins))
        return compile_spec("a.yaml", None, HOST, context=Context(find_build=(made or {}).get)).builds[0]

    return planned


def made(*digests: str, here: bool = True) -> ExistingBuild:
    return ExistingBuild(frozenset({GFLAGS, *digests}), here)


def test_pins_of_what_was_built_are_the_build_that_there_is(planned: Planned) -> None:
    was = planned({})
    now = planned(BOTH, {was.id: made(CHECKSUM, COMMIT)})
    assert (now.id, now.pin) == (was.id, "")
    assert now.pins == {JAR: CHECKSUM, TREE: COMMIT}  # made again, it is made of these


def test_pins_of_something_else_are_another_build(planned: Planned) -> None:
    was = planned({})
    pinned = planned(BOTH)
    assert pinned.id != was.id
    for digests in ((), (CHECKSUM,), (CHECKSUM, OTHER), (OTHER, COMMIT)):
        assert planned(BOTH, {was.id: made(*digests)}) == pinned
    assert planned({**BOTH, TREE: OTHER}, {was.id: made(CHECKSUM, COMMIT)}).id not in (was.id, pinned.id)


def test_a_pin_that_joins_another_is_the_build_of_the_other(planned: Planned) -> None:
    jar = planned({JAR: BOTH[JAR]})
    now = planned(BOTH, {jar.id: made(CHECKSUM, COMMIT)})
    assert (now.id, now.pin) == (jar.id, CHECKSUM)
    assert planned(BOTH, {jar.id: made(CHECKSUM, OTHER)}) == planned(BOTH)


def test_a_build_with_all_pins_comes_first(planned: Planned) -> None:
    was, pinned = planned({}), planned(BOTH)
    same = made(CHECKSUM, COMMIT)
    assert planned(BOTH, {was.id: same, pinned.id: made()}).id == pinned.id


def test_a_build_of_this_checkout_comes_before_one_that_was_made_elsewhere(planned: Planned) -> None:
    was, pinned = planned({}), planned(BOTH)
    here, there = made(CHECKSUM, COMMIT), made(CHECKSUM, COMMIT, here=False)
    assert planned(BOTH, {was.id: here, pinned.id: there}).id == was.id
    assert planned(BOTH, {was.id: there, pinned.id: here}).id == pinned.id
    assert planned(BOTH, {was.id: there, pinned.id: there}).id == pinned.id
    assert planned(BOTH, {was.id: there}).id == was.id


def test_without_a_lock_file_no_store_is_asked(planned: Planned) -> None:
    def refuse(node: str) -> ExistingBuild | None:
        raise AssertionError(node)

    planned({})
    assert compile_spec("a.yaml", None, HOST, context=Context(find_build=refuse)).builds[0].pins == {}
