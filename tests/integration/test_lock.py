"""stepgrid lock on artifacts: the checksums of what the machine's own clients fetch, which its builds then hold to."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.job import make
from stepgrid.build.recipe import source_of
from stepgrid.cli import main
from stepgrid.language import lock_file
from stepgrid.language.problems import Problems
from stepgrid.model.plan import PlannedBuild
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from tests.build.ordering import order
from tests.needs import needs

SPEC = """\
title: t
builds: {r: {engine: rocksdb, version: 1.0.0, source: {crate: cfg-if}}}
steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], fresh: true}]
params: {keys: 1M}
"""
CFG_IF = "sha256:baf1de4339761588bc0619e3cbc0120ee582ebb74b53b4efbf79117bd2da40fd"


@needs("cargo")
def test_an_artifact_is_held_to_its_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(SPEC)
    assert main(["lock", "a.yaml"]) == 0
    assert lock_file.read("a.yaml", Problems()).pins == {"crate cfg-if 1.0.0": CFG_IF}
    build = host_plan.compile_for_host("a.yaml", None).builds[0]
    source, route = build.source, source_of(build.source)
    route.fetch(source, tmp_path / "one", order(tmp_path / "one", source, pins=build.pins))
    other = order(tmp_path / "two", source, pins={"crate cfg-if 1.0.0": "0" * 64})
    with pytest.raises(BuildError, match="is not the file that the lock file means"):
        route.fetch(source, tmp_path / "two", other)


PACKAGE = """\
title: t
builds:
  p: {engine: program, version: 1.16.0, source: {pypi: six, version: 1.16.0, kind: sdist},
      flags: {command: chmod +x setup.py, programs: setup.py}}
steps: [{name: say, kind: command, argv: ["{program:setup.py}"]}]
"""


def test_a_package_that_was_built_is_the_same_build_when_it_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(PACKAGE)
    before = _planned()
    assert make(Store(), before) == 0
    assert main(["lock", "a.yaml"]) == 0
    assert _planned().id == before.id
    assert [len(digest) for digest in _planned().pins.values()] == [64]
    lock_file.path("a.yaml").write_text(lock_file.text({"pypi six 1.16.0 sdist": f"sha256:{'0' * 64}"}))
    assert _planned().id != before.id


def _planned() -> PlannedBuild:
    return host_plan.compile_for_host("a.yaml", None).builds[0]
