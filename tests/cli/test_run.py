from __future__ import annotations

import argparse

import pytest
from snakemake.cli import parse_config

from stepgrid.cli import run


@pytest.mark.parametrize("only", ["build == 'rocksdb-7.8.3'", '"a" == cache', "cache == 'a: #b'", "threads > 1"])
def test_an_expression_reaches_the_run_as_it_was_written(only: str) -> None:
    parser = argparse.ArgumentParser()
    run.arguments(parser)
    asked = parser.parse_args(["--only", only, "--set", "params.x='1'", "s.yaml"])
    assert parse_config(run.config_of(asked)) == {"spec": "s.yaml", "only": [only], "set": ["params.x='1'"]}
