"""Three clients that send the same: one of ours, one in Python, and sysbench's bare driver; what each of them costs.

Of all three only the loop counts: their start is a tenth of a run of a few seconds.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from bench.spent import ROOT
from stepgrid.host.processes.supervision import environment
from stepgrid.plugins.driver import Context, PackageRunner
from stepgrid.plugins.server import Access
from stepgrid.run.attempt import attach

Lines = Sequence[Mapping[str, Any]]


class Cost(NamedTuple):
    """Of one run, in microseconds of CPU per row, query or request."""

    user: float
    system: float
    operations: int

    @property
    def all(self) -> float:
        return self.user + self.system


class Lab(NamedTuple):
    access: Access
    server: str
    sysbench: Sequence[str]
    folder: Path
    packages: Path | None  # that Python needs besides

    def place(self) -> Path:
        made = self.folder / f"run-{len(list(self.folder.glob('run-*')))}"
        made.mkdir()
        return made


def load(lab: Lab, driver: PackageRunner, settings: Mapping[str, Any]) -> None:
    _ran(*_driven(lab, driver, settings))


def ours(lab: Lab, driver: PackageRunner, settings: Mapping[str, Any], count: Callable[[Lines], int]) -> Cost:
    argv, env, folder = _driven(lab, driver, settings)
    _ran(argv, env, folder)
    lines = [json.loads(line) for line in (folder / "report.jsonl").read_text(encoding="utf-8").splitlines()]
    (end,) = (line for line in lines if line["report"] == "end")
    return _cost({**end, "done": count(lines)})


def python(lab: Lab, script: str, asked: Mapping[str, Any]) -> Cost:
    folder = lab.place()
    attach(folder, {"request.json": json.dumps({**asked, "server": lab.server, "connection": _connection(lab)})})
    paths = os.pathsep.join(str(path) for path in (lab.packages, ROOT) if path)
    argv = [sys.executable, str(ROOT / "bench" / script), "request.json"]
    _ran(argv, {**os.environ, "PYTHONPATH": paths}, folder)
    return _cost(json.loads((folder / "stdout").read_text(encoding="utf-8")))


@contextmanager
def started(lab: Lab, driver: PackageRunner, settings: Mapping[str, Any]) -> Iterator[subprocess.Popen[bytes]]:
    """A client of ours that runs meanwhile, and must end well."""
    argv, env, folder = _driven(lab, driver, settings)
    with (folder / "stdout").open("wb") as out:
        client = subprocess.Popen(argv, cwd=folder, env=env, stdout=out, stderr=out)
    try:
        yield client
        assert client.wait() == 0, (folder / "stdout").read_text(encoding="utf-8")
    finally:
        client.kill()


def bare(
    lab: Lab, driver: PackageRunner, statements: Sequence[str], own: Mapping[str, Any], script: str = "constant.lua"
) -> Cost:
    """Reached as our client reaches the server, with its files beside; `own` are options of the script."""
    driven, env, folder = _driven(lab, driver, {"action": "check"})
    reaching = [word for word in driven if re.match(r"--(db-driver|config-file|mysql|pgsql)", word)]
    attach(folder, {"statements": "\n".join(statements)})
    given = {"threads": 1, "events": 0, "time": 0, "statements": "statements", **own}
    words = [f"--{name}={value}" for name, value in given.items()]
    _ran([*lab.sysbench, str(ROOT / "bench" / script), *reaching, *words, "run"], env, folder)
    return _cost(json.loads((folder / "done.json").read_text(encoding="utf-8")))


def _driven(lab: Lab, driver: PackageRunner, given: Mapping[str, Any]) -> tuple[Sequence[str], Mapping[str, str], Path]:
    folder = lab.place()
    values = driver.settings_model().model_validate(given).model_dump(mode="json")
    access = lab.access._replace(running=True)  # so that a load drops what the one before it has left
    made = driver.command(values, {}, Context({"sysbench": lab.sysbench}, "", folder, folder, 1, access))
    attach(folder, {**driver.files(values, str), **made.files})
    return made.argv, environment(made.argv[0], made.env), folder


def _connection(lab: Lab) -> Mapping[str, Any]:
    access = lab.access
    known = {"user": access.user, "password": access.password}
    if lab.server == "postgres":
        return {**known, "host": str(access.sockets), "port": access.port, "dbname": access.database}
    return {**known, "unix_socket": str(access.socket), "database": access.database}


def _ran(argv: Sequence[str], env: Mapping[str, str], folder: Path) -> None:
    with (folder / "stdout").open("wb") as out:
        done = subprocess.run(argv, cwd=folder, env=env, stdout=out, stderr=out, check=False)
    assert done.returncode == 0, (folder / "stdout").read_text(encoding="utf-8")


def _cost(found: Mapping[str, Any]) -> Cost:
    assert found["done"]
    return Cost(found["user"] * 1e6 / found["done"], found["system"] * 1e6 / found["done"], int(found["done"]))
