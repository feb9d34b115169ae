"""Compiling beside an import: what is there afterwards, and what is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stepgrid.store.store import Store
from stepgrid.workflow import plan_cache
from stepgrid.workflow.background_compilation import worked_out
from stepgrid.workflow.plan_cache import Request

SPEC = """\
title: t
builds: {r: {engine: rocksdb, version: 1.0.1, source: {debian: rocksdb-tools, suite: sid}}}
steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}]
params: {keys: 1M}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(SPEC, encoding="utf-8")
    os.utime("a.yaml", (1, 1))  # what was written just now may change unseen
    return tmp_path


def test_the_plan_is_there_and_nothing_was_said(capfd: pytest.CaptureFixture[str]) -> None:
    with worked_out({"spec": "a.yaml"}) as found:
        pass
    assert found.to_do
    assert plan_cache.find(Store(), Request("a.yaml"))
    assert capfd.readouterr() == ("", "")


def test_what_is_wrong_is_left_to_be_said(capfd: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text("title: [", encoding="utf-8")
    with worked_out({"spec": "a.yaml"}) as found:
        pass
    assert not found.to_do
    assert plan_cache.find(Store(), Request("a.yaml")) is None
    assert capfd.readouterr() == ("", "")
