"""Closed and full streams, and users without a passwd entry, as a shell and a container give them."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from stepgrid.host import files
from stepgrid.workflow import snakemake

SPEC = """
title: t
builds: {sh: {engine: program, source: {system: sh}}}
steps: [{name: q, kind: command, argv: [sh, -c, "echo 1"]}]
"""
STEPGRID = f"{sys.executable} -m stepgrid.cli"


@pytest.fixture
def here(tmp_path):
    (tmp_path / "a.yaml").write_text(SPEC)
    tmp_path.chmod(0o777)
    return tmp_path


def shell(folder, command):
    return subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("command", ["check a.yaml", "plan a.yaml", "report a.yaml", "-h"])
def test_a_full_output_is_named(here, command):
    done = shell(here, f"{STEPGRID} {command} >/dev/full")
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == "standard output cannot be written: No space left on device"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "closed", ["<&- >&- 2>&-", *(pytest.param(each, marks=pytest.mark.nightly) for each in ("<&-", ">&-", "<&- >&-"))]
)
def test_a_run_with_closed_streams_measures_and_reports(here, closed):
    done = shell(here, f"{STEPGRID} run a.yaml {closed}")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert [*here.glob("outputs/summary/*/index.html")]


@pytest.mark.skipif(os.getuid() != 0, reason="another user id needs root")
def test_a_user_without_a_passwd_entry_measures():
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        _measure_as_nobody(Path(name))


def _measure_as_nobody(here):
    (here / "a.yaml").write_text(SPEC)
    here.chmod(0o777)
    environment = f"HOME={here} PATH=/usr/bin:/bin STEPGRID_HOST_LOCK={here}/lock"
    done = shell(here, f"env {environment} setpriv --reuid 54321 --regid 54321 --clear-groups {STEPGRID} run a.yaml")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    assert [*here.glob("outputs/summary/*/index.html")]


def test_temporary_folders_of_killed_runs_go(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended = subprocess.Popen(["true"])
    ended.wait()
    host = files.temporary_suffix().partition("@")[2]
    for name, mark in (
        ("snakemakedead", f"{ended.pid}@{host}"),
        ("snakemakealive", f"{os.getppid()}@{host}"),
        ("snakemakeelsewhere", f"{ended.pid}@00000000"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{snakemake.OWNER}{mark}").touch()
    (tmp_path / "snakemakeforeign").mkdir()
    (tmp_path / "snakemakeours").mkdir()
    snakemake.mark_folder(tmp_path / "snakemakeours")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "snakemakealive",
        "snakemakeelsewhere",
        "snakemakeforeign",
        "snakemakeours",
    ]
    assert [path.name for path in (tmp_path / "snakemakeours").iterdir()] == [
        f"{snakemake.OWNER}{files.temporary_suffix()}"
    ]
