"""Workloads run by themselves against a server, and what the server says of them: statements, plans, rows."""

import json
import re
import subprocess
import time
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from msgspec import Struct

from bench.server import serving
from stepgrid.build.record import programs
from stepgrid.host.processes.supervision import environment
from stepgrid.model.records import replace
from stepgrid.plugins.driver import Context
from stepgrid.plugins.registry import driver, server_engine
from stepgrid.plugins.server import Access, Connection
from stepgrid.run.attempt import attach
from stepgrid_databases.drivers.sysbench import SysbenchDriver

TABLES, ROWS = 2, 20_000
OPTIONS = {
    "innodb": {"innodb_buffer_pool_size": "64MiB", "innodb_flush_log_at_trx_commit": 2, "userstat": 1},
    "rocksdb": {"rocksdb_block_cache_size": "64MiB", "rocksdb_flush_log_at_trx_commit": 2, "userstat": 1},
    "heap": {"shared_buffers": "64MB", "log_statement": "all", "synchronous_commit": "off", "autovacuum": "off"},
}
_OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid != pg_backend_pid()"


@dataclass(frozen=True, slots=True)
class Seen:
    """One statement as the server saw it, and how it would run it."""

    sql: str
    index: str | None
    covered: bool


class Bench(Struct, frozen=True):
    """A server with tables in it."""

    access: Access
    connection: Connection
    sysbench: Sequence[str]
    folder: Path

    @property
    def postgres(self):
        return self.access.engine == "postgres"

    def run(self, lua, seed=None, **given):
        """In a folder of its own; with the same seed it would write what is there already."""
        number = len(list(self.folder.glob("step-*")))
        folder = self.folder / f"step-{number}"
        folder.mkdir()
        done = self.start(folder, lua, number if seed is None else seed, **given)
        assert done.returncode == 0, done.stdout + done.stderr
        return folder

    def start(self, folder, lua, seed=0, **given):
        found = driver("sysbench")
        assert isinstance(found, SysbenchDriver)
        settings = found.settings_model().model_validate({"lua": lua, "rows": ROWS, "tables": TABLES, **given})
        values = settings.model_dump(mode="json")
        context = Context({"sysbench": self.sysbench}, "", folder, folder, seed, self.access)
        made = found.command(values, {}, context)
        own = {name: (folder.parent / name).read_text() for name in [lua] if lua.endswith(".lua")}
        attach(folder, {**found.files(values, own.__getitem__), **made.files})
        done = subprocess.run(
            made.argv,
            cwd=folder,
            env=environment(made.argv[0], made.env),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        (folder / "stdout").write_text(done.stdout)
        return done

    def watched(self, lua, **given):
        """The statements that clients gave while it ran."""
        with self.log() as seen:
            self.run(lua, **given)
        return [re.sub(r"\s+", " ", sql).strip() for sql in seen]

    @contextmanager
    def log(self, prepared=True):
        """`prepared`: of PostgreSQL, those alone."""
        seen = []
        if self.postgres:
            log = self.folder / "server" / "stderr"
            start = log.stat().st_size
            yield seen
            seen.extend(_logged(log.read_bytes()[start:].decode(), prepared))
            return
        for sql in ("SET GLOBAL log_output = 'TABLE'", "TRUNCATE mysql.general_log", "SET GLOBAL general_log = 1"):
            self.connection.query(sql)
        yield seen
        self.connection.query("SET GLOBAL general_log = 0")
        rows = self.connection.query(
            "SELECT argument FROM mysql.general_log WHERE command_type IN ('Execute', 'Query') "
            "AND thread_id != CONNECTION_ID()"
        )
        said = (row["argument"] for row in rows)
        seen.extend(each.decode() if isinstance(each, bytes) else str(each) for each in said)

    def plan(self, sql):
        if self.postgres:
            (row,) = self.connection.query(f"EXPLAIN (FORMAT JSON) {sql}")
            nodes = list(_nodes(row["QUERY PLAN"][0]["Plan"]))
            index = next((str(node["Index Name"]) for node in nodes if "Index Name" in node), None)
            return Seen(sql, index, any(node["Node Type"] == "Index Only Scan" for node in nodes))
        (row,) = self.connection.query(f"EXPLAIN {sql}")
        return Seen(sql, row["key"], "Using index" in (row["Extra"] or "").replace("Using index condition", ""))

    def number(self, sql):
        (row,) = self.connection.query(sql)
        return int(next(iter(row.values())) or 0)

    def checksum(self):
        """Of all tables."""
        names = [f"sbtest{number}" for number in range(1, TABLES + 1)]
        if self.postgres:
            sql = "SELECT md5(string_agg(t::text, ',' ORDER BY id)) AS found FROM {} AS t"
            return [self.connection.query(sql.format(name))[0]["found"] for name in names]
        return [self.connection.query(f"CHECKSUM TABLE {name}")[0]["Checksum"] for name in names]

    def rows_read(self):
        """Of the tables, by whichever way, up to now."""
        if self.postgres:
            while self.number(_OTHERS):  # one that leaves says at last what it read
                time.sleep(0.01)
            self.connection.query("SELECT pg_stat_force_next_flush()")
            self.connection.query("SELECT pg_stat_clear_snapshot()")
            return self.number("SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables")
        if self.access.storage_engine == "rocksdb":  # it gives several rows at once, and the server counts none of them
            (row,) = self.connection.query("SHOW GLOBAL STATUS LIKE 'Rocksdb_rows_read'")
            return int(row["Value"])
        table = "information_schema.table_statistics"
        return self.number(f"SELECT sum(rows_read) FROM {table} WHERE table_schema = DATABASE()")


def _nodes(plan):
    yield plan
    for inner in plan.get("Plans", ()):
        yield from _nodes(inner)


def _logged(log, prepared):
    """Statements with their parameters in place."""
    lines = log.splitlines()
    for number, line in enumerate(lines):
        if match := re.search(
            r"LOG:  execute \S+: (.*)" if prepared else r"LOG:  (?:execute \S+|statement): (.*)", line
        ):
            following = lines[number + 1] if number + 1 < len(lines) else ""
            yield _with_values(match[1], following if "DETAIL:" in following else "")


def _with_values(sql, said):
    given = dict(re.findall(r"(\$\d+) = ('[^']*')", said))
    return re.sub(r"\$\d+", lambda found: given[found[0]], sql)


def record(builds, engine):
    known = ((path, json.loads((path / "build.json").read_text())) for path in builds.iterdir())
    return next((path, found) for path, found in known if found["engine"] == engine)


@contextmanager
def bench(builds, engine, storage, folder):
    """Without tables."""
    build, about = record(builds, engine)
    client, _ = record(builds, "sysbench")
    lacks = ("userstat",) if engine == "mysql" else ()
    options = {name: value for name, value in OPTIONS[storage].items() if name not in lacks}
    with serving(build, about, folder, options, storage) as access:
        found = server_engine(engine)
        assert found is not None
        connection = found.connect(access)
        try:
            yield Bench(access, connection, programs(client)["sysbench"], folder)
        finally:
            connection.close()


def without_password(bench):
    return replace(bench, access=bench.access._replace(password="wrong"))
