"""A plan whose build is of a local tree holds for as long as the tree does."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from stepgrid.build import pins
from stepgrid.store import plans
from stepgrid.store.store import Store
from stepgrid.workflow import plan_cache
from stepgrid.workflow.plan_cache import Request

SPEC = """\
title: t
builds: {r: {engine: rocksdb, version: 1.0.1, source: {path: tree}}}
steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}]
params: {keys: 1M}
"""
REQUEST = Request("a.yaml")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.chdir(tmp_path)
    Path("tree").mkdir()
    Path("tree/a.c").write_text("one")
    Path("a.yaml").write_text(SPEC)
    store = Store()
    now = time.time_ns() + 10**9
    monkeypatch.setattr(time, "time_ns", lambda: now)  # the tree was written a while ago
    plan, _ = plan_cache.compiled(store, REQUEST)
    plans.publish(store, plan)
    return store


def test_a_tree_that_was_not_touched_is_not_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pins, "tree_checksum", lambda path: pytest.fail("it was read"))
    assert plan_cache.find(store, REQUEST)


def test_one_that_was_touched_is_read(store: Store) -> None:
    os.utime("tree/a.c", ns=(1, 1))
    assert plan_cache.find(store, REQUEST)


def test_one_that_changed_is_compiled_again(store: Store) -> None:
    Path("tree/a.c").write_text("two")
    assert plan_cache.find(store, REQUEST) is None
