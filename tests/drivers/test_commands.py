"""Steps of each kind as data: what settings are refused, and which command the others come to.

The cases of a kind stand in commands/KIND.yaml: settings, and where the command counts the options, the release of the
binary, the server (its engine, a host, whether it already ran) and the seed. Its golden text has what comes of them.
"""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from stepgrid.package import INTERPRETER, PACKAGE
from stepgrid.plugins.driver import Context, RateTargets, RefusedError
from stepgrid.plugins.registry import driver, require_runner
from stepgrid.plugins.server import Access
from tests.cases import cases

COMMANDS = Path(__file__).with_name("commands")
KINDS = sorted(path.stem for path in COMMANDS.glob("*.yaml"))
PROGRAMS = {name: ("ld.so", f"bin/{name}") for name in ("db_bench", "sysbench", "pgbench", "mariadb")}
SECRET = "secret"
ACCESS = {
    "mysql": Access("mysql", Path("/s"), Path("/s/mysqld.sock"), 3306, "me", SECRET, "bench", "innodb"),
    "mariadb": Access("mariadb", Path("/s"), Path("/s/mysqld.sock"), 3306, "me", SECRET, "bench", "rocksdb"),
    "postgres": Access("postgres", Path("/s"), Path("/s/.s.PGSQL.5432"), 5432, "me", SECRET, "bench", "heap"),
}


def context(case):
    known = dict(case.get("server") or {})
    access = ACCESS[known.pop("engine")]._replace(**known) if known else None
    folder, cache = Path("/attempt/steps/0-one"), Path("/cache")
    more = {"inputs": case.get("inputs", {}), "cache": cache, "server_pid": 12 if access else None}
    return Context(PROGRAMS, case.get("version", "9.10.0"), Path("/data"), folder, case.get("seed", 41), access, **more)


def described(kind, case):
    planning = driver(kind)
    try:
        settings = planning.settings_model().model_validate(case["settings"])
    except ValidationError as error:
        yield from (f"  refused: {'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        return
    values = settings.model_dump(mode="json")
    yield f"  decides: {json.dumps(settings.model_dump(mode='json', exclude_defaults=True), ensure_ascii=False)}"
    yield f"  takes about {planning.estimate(values):.6g} s, seed of {planning.seed_key(values)}"
    if isinstance(planning, RateTargets) and (targets := planning.targets(values)):
        yield f"  is asked for {targets}"
    if "server" not in case and "options" not in case:
        return
    try:
        command = require_runner(kind).command(values, case.get("options", {}), context(case))
    except (ValueError, LookupError, RefusedError) as error:
        yield f"  refused: {error}"
        return
    assert SECRET not in " ".join(command.argv), "everybody on the host can read a command line"
    yield "  runs: " + " ".join(command.argv).replace(" ".join(INTERPRETER), "PYTHON")
    environment = {name: value.replace(str(PACKAGE.parent), "COMPILER") for name, value in command.env.items()}
    yield f"  for {command.duration} s, with {environment}"
    for name, text in command.files.items():
        yield f"  {name}{' (secret)' if name in command.secrets else ''}: {text!r}"
    yield from [f"  keeps {', '.join(command.keep)}"] if command.keep else []


@pytest.mark.parametrize("kind", KINDS)
def test_commands(kind, golden):
    golden(
        "".join("\n".join((case["case"], *described(kind, case))) + "\n\n" for case in cases(COMMANDS / f"{kind}.yaml"))
    )
