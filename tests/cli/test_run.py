import importlib.util
import os
import re

import pytest
from snakemake.cli import parse_config

from stepgrid.cli import main, run
from stepgrid.host.locks import host_lock
from stepgrid.store.plans import Request
from stepgrid.workflow import run_request


@pytest.mark.parametrize("only", ["build == 'rocksdb-7.8.3'", '"a" == cache', "cache == 'a: #b'", "threads > 1"])
def test_an_expression_reaches_the_run_as_it_was_written(only):
    config = parse_config(run.config_words({"spec": "s.yaml", "only": only, "set": ["params.x='1'"]}))
    assert run_request.plan_request(config) == Request("s.yaml", None, only, ("params.x='1'",))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--until", "yesterday"],
            "--until: expected a duration such as 6h, 90m or 1h30m, or a time of day such as 07:30; "
            "or a rule: build, run, summarize, all; found `yesterday`",
        ),
        (["--no-wiat"], "neither stepgrid run nor Snakemake has an option `--no-wiat`: did you mean `--no-wait`?"),
        (
            ["--cluster"],
            "neither stepgrid run nor Snakemake has an option `--cluster`: `stepgrid run -h` lists those of stepgrid",
        ),
        (
            ["--config", "a=b"],
            "an option of Snakemake's: Invalid config definition: Config entry must start with a valid identifier.",
        ),
        (
            ["--cores=x"],
            "an option of Snakemake's: Error parsing number of cores (--cores, -c): must be integer or 'all'.",
        ),
    ],
)
def test_words_that_cannot_be_meant(words, message, capsys):
    assert main(["run", "s.yaml", *words]) == 2
    assert capsys.readouterr().err == f"{message}\n"


def test_a_run_that_does_not_wait_for_the_host(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(
        "title: t\nbuilds: {a: {engine: program, version: 1, source: {system: sh}}}\n"
        "steps: [{name: s, kind: command, argv: [sh, -c, 'exit 0']}]\n"
    )
    with host_lock(shared=False):
        assert main(["run", "s.yaml", "--no-wait"]) == 5
    said = capsys.readouterr().err.splitlines()[-1]
    assert re.fullmatch(rf"the host is in use by process {os.getpid()} .*; `--no-wait`: nothing was started", said)
    assert ", running for " in said


@pytest.mark.parametrize("plugin", [True, False])
def test_what_a_run_on_slurm_lacks(plugin, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: plugin or None)
    assert main(["run", "s.yaml", "--on", "slurm"]) == 2
    missing = (
        "there is no `slurm` that names the nodes (docs/guides/machines.md)"
        if plugin
        else "Snakemake's plug-in is not installed: pip install 'stepgrid[slurm]'"
    )
    assert capsys.readouterr().err == f"--on slurm: {missing}\n"
