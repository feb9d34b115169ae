"""Params that a set of an include reads are known where the spec names the set."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.expand.cells import expand
from stepgrid.language.problems import Problems, SpecError, format_problems
from stepgrid.language.spec_file import read_spec

LIBRARY = """\
define:
  options:
    below: {engine: rocksdb, options: {bloom_bits: [{when: "params.legacy | default(false)", value: 8}, {value: 10}]}}
    mine: {extends: below, options: {block_size: 8KiB}}
"""
SPEC = """\
title: t
include: [library.yaml]
builds: {rocksdb: {engine: rocksdb, version: 9.10.0, source: {system: db_bench}}}
options: [NAMED]
steps: [{name: load, kind: db_bench, benchmarks: [fillseq], fresh: true}]
params: {keys: 1M, legacy: true}
"""


def bloom_bits(named: str, folder: Path) -> object:
    (folder / "library.yaml").write_text(LIBRARY, encoding="utf-8")
    (folder / "spec.yaml").write_text(SPEC.replace("NAMED", named), encoding="utf-8")
    problems = Problems()
    document = read_spec(str(folder / "spec.yaml"), None, problems)
    assert document is not None
    (cell,) = expand(document, {}, problems).cells
    problems.stop_on_errors()
    return cell.segments[0].steps[0].options["bloom_bits"].value


@pytest.mark.parametrize("named", ["below", "mine", "{extends: mine, options: {bloom_locality: 1}}"])
def test_a_set_of_an_include_may_take_a_param(named: str, tmp_path: Path) -> None:
    assert bloom_bits(named, tmp_path) == 8


def test_one_that_is_not_named_takes_none(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        bloom_bits("{bloom_bits: 10}", tmp_path)
    assert "spec.yaml:6:20: error[unknown-param]: no step takes the param `legacy`" in format_problems(
        caught.value.problems
    )
