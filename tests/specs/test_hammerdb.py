"""HammerDB's TPROC-C: what specs read of its output, what they set, and when our file of Tcl fails.

The sample is written after the output of HammerDB 4.12. The file of Tcl runs with stand-ins for HammerDB's commands.
"""

import os
import subprocess
from pathlib import Path

import pytest

from stepgrid.cli import main
from tests.needs import needs

SPECS = Path(__file__).resolve().parents[2] / "specs"
PROGRAM = SPECS / "programs" / "hammerdb.tcl"
SAMPLE = """\
Vuser 1:Beginning rampup time of 2 minutes
Vuser 1:Rampup complete, Taking start Transaction Count.
Vuser 1:Timing test period of 5 in minutes
Vuser 1:Test complete, Taking end Transaction Count.
Vuser 1:2 Active Virtual Users configured
Vuser 1:TEST RESULT : System achieved 48765 NOPM from 112358 PostgreSQL TPM
Vuser 1:FINISHED SUCCESS
new orders of the step: 341355
failed transactions: 3
"""
STAND_IN = Path(__file__).with_name("hammerdb_stand_in.tcl").read_text(encoding="utf-8")
LOAD = {"WAREHOUSES": "2", "USERS": "2"}
RUN = {"USERS": "2", "RAMPUP": "5", "MINUTES": "120", "ALL_WAREHOUSES": "True", "VACUUM": "True"}


def run(folder, settings, **answers):
    (folder / "stand_in.tcl").write_text(STAND_IN)
    server = {f"PG{name}": name.lower() for name in ("HOST", "PORT", "USER", "PASSWORD", "DATABASE")}
    answered = {"STATUS": "PGRES_TUPLES_OK", "COUNT": "2", "RESULT": "0", "ORDERS": "500", **answers}
    env = {**os.environ, **server, **settings, **answered, "PROGRAM": str(PROGRAM)}
    argv = ["tclsh", "stand_in.tcl"]
    return subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("spec", ["hammerdb.yaml", "posts/2026-06-tproc-c-postgres.yaml"])
def test_its_patterns(spec, tmp_path, capsys):
    (tmp_path / "sample.txt").write_text(SAMPLE)
    assert main(["check", str(SPECS / spec), "--try", str(tmp_path / "sample.txt")]) == 0
    said = capsys.readouterr().out
    assert "nopm: 48,765 orders/min" in said
    assert "tpm: 112,358 transactions/min" in said
    assert "operations: 341,355 new orders" in said
    assert "failed_transactions: 3 transactions" in said


def test_its_steps_name_files_that_exist(capsys):
    """In full size, too: every word of a step that may be a file is one."""
    for spec in ("hammerdb.yaml", "posts/2026-06-tproc-c-postgres.yaml"):
        assert main(["check", str(SPECS / spec)]) == 0
        assert "warning" not in capsys.readouterr().out
    library = (SPECS / "library" / "hammerdb.yaml").read_text()
    assert library.count('"{program:run-hammerdb}", ../programs/hammerdb.tcl]') == 4
    assert (SPECS / "library" / "../builds/patches/hammerdb.patch").is_file()


@needs("tclsh")
def test_a_load_has_the_settings_of_the_published_scripts(tmp_path):
    small, large = (run(tmp_path, {**LOAD, "WAREHOUSES": size}, COUNT=size) for size in ("2", "200"))
    assert (small.returncode, large.returncode) == (0, 0), small.stderr + large.stderr
    assert "diset tpcc pg_partition false" in small.stdout
    assert "diset tpcc pg_partition true" in large.stdout
    for line in ("pg_count_ware 200", "pg_num_vu 2", "pg_storedprocs true", "pg_dbase database"):
        assert f"diset tpcc {line}" in large.stdout
    assert large.stdout.endswith("warehouses: 200\n")


@needs("tclsh")
def test_a_run_has_the_settings_of_the_published_scripts(tmp_path):
    done = run(tmp_path, RUN)
    assert done.returncode == 0, done.stderr
    for line in ("driver timed", "allwarehouse true", "vacuum true", "rampup 5", "duration 120"):
        assert f"diset tpcc pg_{line}\n" in done.stdout
    assert done.stdout.endswith("new orders of the step: 500\nfailed transactions: 1\n")


@needs("tclsh")
@pytest.mark.parametrize("settings", [LOAD, RUN])
def test_a_virtual_user_that_fails_ends_the_step(tmp_path, settings):
    """HammerDB itself goes on, ends with status 0 and prints the figure of the other users; a load never ends."""
    done = run(tmp_path, settings, RESULT="1")
    assert done.returncode == 1
    assert done.stderr == "hammerdb failed: virtual user 2 failed; its error is in the output above\n"


@needs("tclsh")
@pytest.mark.parametrize(("answers", "count"), [({"COUNT": "1"}, "1"), ({"STATUS": "PGRES_FATAL_ERROR"}, "2")])
def test_a_load_that_left_no_tables_fails(tmp_path, answers, count):
    done = run(tmp_path, LOAD, **answers)
    assert done.returncode == 1
    assert done.stderr == f"hammerdb failed: the load left no 2 warehouses: {count}\n"
