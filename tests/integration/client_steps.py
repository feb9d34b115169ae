"""Steps of a client that runs on sysbench's LuaJIT, by themselves against a server."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from stepgrid.host.processes.supervision import environment
from stepgrid.plugins.driver import Context, PackageRunner
from stepgrid.run.attempt import attach
from tests.integration.sysbench import bench

LONG = 60.0
KINDS = ["mariadb-innodb", "mariadb-rocksdb", "mysql-innodb", "postgres-heap"]
AT_NIGHT = [pytest.param(kind, marks=pytest.mark.nightly) for kind in KINDS[1:]]
ONE_BY_DAY = pytest.mark.parametrize("server", [KINDS[0], *AT_NIGHT], indirect=True)
TWO_BY_DAY = [KINDS[0], *AT_NIGHT[:2], KINDS[3]]


@dataclass(frozen=True)
class Step:
    """One that was started: its settings, its folder and its client."""

    driver: PackageRunner
    settings: Mapping[str, Any]
    folder: Path
    client: subprocess.Popen[bytes]

    def ended(self):
        return self.client.wait(LONG)

    @property
    def figures(self):
        return self.driver.parse(self.folder, self.settings)

    @property
    def lines(self):
        path = self.folder / "report.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def complaint(self):
        return self.driver.complaint(self.folder)


@dataclass(frozen=True)
class Client:
    """Of one kind of step."""

    driver: PackageRunner

    def start(self, bench, action, seed=7, *, anew=False, **given):
        folder = bench.folder / f"step-{len(list(bench.folder.glob('step-*')))}"
        folder.mkdir()
        settings = self.driver.settings_model().model_validate({"action": action, **given}).model_dump(mode="json")
        context = Context({"sysbench": bench.sysbench}, "", folder, folder, seed, bench.access._replace(running=anew))
        made = self.driver.command(settings, {}, context)
        attach(folder, {**self.driver.files(settings, str), **made.files})
        with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
            client = subprocess.Popen(
                made.argv, cwd=folder, env=environment(made.argv[0], made.env), stdout=out, stderr=err
            )
        return Step(self.driver, settings, folder, client)

    def run(self, bench, action, seed=7, **given):
        step = self.start(bench, action, seed, **given)
        assert step.ended() == 0, step.complaint
        return step

    def checked(self, bench):
        """What the check says."""
        return [line for line in self.run(bench, "check").lines if line["report"] == "check"]


@contextmanager
def server_folder():
    """Where everyone may go: a server is nobody's."""
    folder = Path(tempfile.mkdtemp(prefix="client-steps-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def running(builds, kind):
    engine, storage = kind.split("-")
    with server_folder() as folder, bench(builds, engine, storage, folder) as found:
        yield found


def waits_for_a_lock(server, step):
    if server.postgres:
        server.connection.query("SELECT pg_stat_clear_snapshot()")
        return server.number("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'") > 0
    return any(line.get("retries") for line in step.lines if line["report"] == "client")


def kill_server(folder):
    """By SIGKILL: the server of a folder and its children, and not its clients."""
    found = [each for each in psutil.process_iter(["cmdline"]) if serves(each.info["cmdline"] or [], str(folder))]
    everyone = [*found, *(child for each in found for child in each.children(recursive=True))]
    for process in everyone:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(everyone[len(found) :], LONG)  # PostgreSQL does not start beside one of them


def serves(words, folder):
    return any(folder in word for word in words) and not any(word.endswith(".lua") for word in words)
