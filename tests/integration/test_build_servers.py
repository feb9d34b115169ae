"""Real servers and clients, of the smallest packages; `make builds-all` has the others."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from stepgrid.build.record import programs
from tests.integration.sysbench import record


def moved(builds: Path, engine: str, folder: Path) -> Path:
    """The build, somewhere else than where it was made."""
    build, _ = record(builds, engine)
    return Path(shutil.copytree(build, folder / "a moved build", copy_function=os.link, symlinks=True))


def said(build: Path, program: str, *arguments: str) -> str:
    argv = [*programs(build)[program], *arguments]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True, cwd="/").stdout


def catalogue(build: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((build / "catalogue.json").read_text())
    return found


def test_sysbench_runs_its_own_workloads(server_builds: Path, tmp_path: Path):
    build = moved(server_builds, "sysbench", tmp_path)
    assert "events per second:" in said(build, "sysbench", "cpu", "--time=1", "run")
    assert "Number of rows per table" in said(build, "sysbench", "oltp_point_select", "help")
    options = catalogue(build)
    assert (options["threads"]["default"], options["table_size"]["default"]) == ("1", "10000")
    record = json.loads((build / "build.json").read_text())
    assert record["facts"]["drivers"] == "mysql, pgsql"
    assert (record["recipe"], record["quality"]["suite"]) == ("server", "bookworm")


def test_a_postgres_whose_defaults_are_known(server_builds: Path, tmp_path: Path):
    build = moved(server_builds, "postgres", tmp_path)
    assert said(build, "initdb", "--version") == "initdb (PostgreSQL) 17.11\n"
    options = catalogue(build)
    known = {
        name: options[name]["default"] for name in ("shared_buffers", "autovacuum", "random_page_cost", "wal_level")
    }
    assert known == {"shared_buffers": "16384", "autovacuum": "on", "random_page_cost": "4", "wal_level": "replica"}
    record = json.loads((build / "build.json").read_text())
    assert (record["version"], record["assertions"], record["route"]) == ("17.11", False, "maven")
    assert sorted(record["programs"]) == ["initdb", "pg_ctl", "postgres"]
