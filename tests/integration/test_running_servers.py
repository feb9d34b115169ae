"""Servers that already run: a load and what comes after it, and what of such a server cannot be known."""

import json
import os
import secrets
import shutil
from contextlib import contextmanager

import duckdb

from bench.server import serving
from stepgrid.plugins.registry import engine, server_engine
from tests.integration import servers
from tests.integration.conftest import Lab
from tests.integration.sysbench import record

SPEC = """\
title: a server that already runs
define: {{builds: {{sysbench: {sysbench}}}}}
builds: {{prod: {{engine: {engine}, version: {version}, source: {{server: prod}}}}}}
options: [{options}]
params: {{rows: 2000, tables: 2, threads: 2, duration: 1s}}
steps:
  - {{name: load, kind: sysbench, lua: load, mutates: true, measured: false}}
  - {{name: settle, kind: quiesce, measured: false, quiet: 1s, timeout: 2s}}
  - {{checkpoint: loaded}}
  - {{name: point, kind: sysbench, lua: point_query}}
  - {{name: scan, kind: sysbench, lua: scan, threads: 1}}
  - {{name: own, kind: command, argv: ["true"], measured: false}}
allow: {{step-short: a test}}
"""


def test_mariadb_by_its_socket(server_builds, tmp_path):
    with _running(server_builds, "mariadb", "innodb", tmp_path / "server") as (access, connection):
        connection.query("CREATE DATABASE others")
        connection.query("CREATE TABLE others.t AS SELECT 1 AS id")
        connection.query("CREATE TABLE sbtest1 (what INT)")
        lab = _lab(server_builds, tmp_path / "lab", access, f"socket: {access.socket}")
        _write(lab, "mariadb", "11.8", "{innodb_buffer_pool_size: 64MiB, max_connections: 77}")
        found = _run(lab)
        assert connection.query("SELECT id FROM others.t") == [{"id": 1}]
        assert connection.query("SELECT count(*) AS rows_loaded FROM sbtest1") == [{"rows_loaded": 2000}]
    _same_for_both(found, "mariadb")
    _nowhere(lab, access)
    asked = "`max_connections`: it is 151 in the running server, and not 77 as asked for"
    assert all(asked in said for (said,) in found.query("SELECT warnings FROM steps WHERE step = 'point'"))
    sizes = "SELECT data_bytes FROM steps WHERE step = 'point'"
    (told,) = lab.folder.glob("outputs/results/*/*/steps/0-point/statistics/after/tables.txt")
    assert "others" not in told.read_text()
    assert found.query(sizes)[0][0] > 2000 * 180


def test_postgres_by_the_network(server_builds, tmp_path, monkeypatch):
    host = f"127.{secrets.randbelow(200) + 20}.{secrets.randbelow(250)}.{secrets.randbelow(250) + 1}"
    _listen(monkeypatch, host)
    with _running(server_builds, "postgres", "heap", tmp_path / "server") as (access, connection):
        lab = _lab(server_builds, tmp_path / "lab", access, f"host: {host}, port: {access.port}")
        _write(lab, "postgres", "17.11", "{shared_buffers: 64MB, work_mem: 1MB}")
        found = _run(lab)
        assert connection.query("SELECT count(*) AS loaded FROM sbtest2") == [{"loaded": 2000}]
    _same_for_both(found, "postgres")
    _nowhere(lab, access)
    said = found.query("SELECT warnings FROM steps WHERE step = 'point'")[0][0]
    assert "`work_mem`: it is 4MB in the running server, and not 1MB as asked for" in said
    assert "shared_buffers" not in said


def _same_for_both(found, engine):
    """The load ran for itself, and once more for what comes after it; what nobody can tell is missing."""
    (attempt,) = [each for each in found.attempts if each["image"]["parent"]]
    assert (attempt["image"]["method"], attempt["image"]["stages_replayed"]) == ("replay", [attempt["image"]["parent"]])
    assert not {"cache", "room", "disk"} & attempt.keys()
    assert not [*found.folder.glob("outputs/images/*")]
    cpu = "SELECT server_cpu_seconds > 0, server_rss_bytes > 1e6, database_bytes FROM steps WHERE step = 'point'"
    assert found.query(cpu) == [(True, True, None)]
    (build,) = [each for each in found.builds if each["engine"] == engine]
    assert build["programs"] == {}
    assert build["quality"] == {
        "route": "server", "server": "prod", "compiler": "unknown", "optimisation": "unknown", "march": "unknown",
        "assertions": False,
    }  # fmt: skip
    text = " ".join(found.text.split())
    assert f"prod: {build['version']} (server, which already ran: its configuration, compiler, flags, patches" in text


def _nowhere(lab, access):
    """The password is somebody's: nothing that is kept has it."""
    kept = [path for path in lab.folder.glob("outputs/[!b]*/**/*") if path.is_file()]
    assert "request.json" in {path.name for path in kept}
    assert not [path for path in kept if access.password.encode() in path.read_bytes()]


class _Found:
    def __init__(self, folder):
        self.folder = folder
        (self._tables,) = folder.glob("outputs/summary/*/tables")
        self.text = (self._tables.parent / "summary.txt").read_text()
        self.attempts = [json.loads(path.read_text()) for path in folder.glob("outputs/results/*/*/attempt.json")]
        self.builds = [json.loads(path.read_text()) for path in folder.glob("outputs/builds/*/build.json")]

    def query(self, sql):
        return duckdb.sql(sql.replace("FROM steps", f"FROM '{self._tables}/steps.parquet'")).fetchall()


@contextmanager
def _running(builds, name, storage, folder):
    build, about = record(builds, name)
    options = {"shared_buffers": "64MB"} if name == "postgres" else {"innodb_buffer_pool_size": "64MiB"}
    with serving(build, about, folder, options, storage) as access:
        known = server_engine(name)
        connection = known.connect(access)
        try:
            yield access, connection
        finally:
            connection.close()


def _listen(monkeypatch, host):
    """Ours never do: this one is somebody else's."""
    postgres = type(engine("postgres"))
    private = postgres.configuration

    def configuration(self, home, options):
        files = private(self, home, options)
        more = {"postgresql.conf": f"listen_addresses = '{host}'\n", "pg_hba.conf": "host all all 127.0.0.0/8 md5\n"}
        return {name: text + more.get(name, "") for name, text in files.items()}

    monkeypatch.setattr(postgres, "configuration", configuration)


def _lab(builds, folder, access, where):
    """With the client's build alone."""
    client, _ = record(builds, "sysbench")
    shutil.copytree(client, folder / "outputs" / "builds" / client.name, copy_function=os.link, symlinks=True)
    lab = Lab(folder)
    lab.write(access.password + "\n", "word")
    entry = f"{where}, user: {access.user}, password_file: word, database: {access.database}"
    lab.write(f"servers: {{prod: {{{entry}}}}}\n", "site.yaml")
    return lab


def _write(lab, engine, version, options):
    lab.write(SPEC.format(engine=engine, version=version, options=options, sysbench=servers.SYSBENCH))


def _run(lab):
    site = str(lab.folder / "site.yaml")
    done = lab.run(STEPGRID_HOST_LOCK=str(lab.folder / "lock"), STEPGRID_LOOK="0", STEPGRID_SITE=site)
    assert done.returncode == 0, done.stdout + done.stderr
    return _Found(lab.folder)
