"""What records of results say of the host that measured them, and copies of these records that do not say it."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from stepgrid.build.error import BuildError
from stepgrid.collect import parquet
from stepgrid.host import cluster_job
from stepgrid.host.facts import pseudonym
from stepgrid.host.files import read_json
from stepgrid.host.processes.signals import MARK
from stepgrid.model import result_schema
from stepgrid.model.plan import Plan
from stepgrid.store import checksums
from stepgrid.store.store import Store

Checksum: TypeAlias = Mapping[str, int | str]
Contents: TypeAlias = Mapping[str, tuple[Path, Path]]  # name -> the folder that it must not lead out of, and its path

PRIVATE = frozenset({"HOME", "LOGNAME", "PATH", "SHELL", "TMPDIR", "USER", MARK})
ENVIRONMENT, ADDED = "environment", "env"  # of command.json: all of it, and what the spec or the driver adds to ours
HOSTNAME = "hostname"
_OURS = frozenset({"LC_ALL"})  # set by stepgrid for every command: tells nothing
_RECORDS = re.compile(r"((?:results|attempts)/[^/]+/[^/]+)/(attempt\.json|.*command\.json|server/effective\.json)")


class HostFacts(NamedTuple):
    """What results say of the hosts that they were measured on."""

    names: Sequence[str]
    variables: Sequence[str]  # of the environment of their commands


def host_facts(store: Store, plan: Plan) -> HostFacts:
    folders = [result for stage in plan.stages for result in store.all_results(stage.id)]
    hosts = (read_json(folder / "attempt.json").get("host") for folder in folders)
    names = {str(host[HOSTNAME]) for host in hosts if isinstance(host, dict) and HOSTNAME in host}
    commands = [read_json(path) for folder in folders for path in folder.glob("**/command.json")]
    variables = {name for command in commands for each in (ENVIRONMENT, ADDED) for name in _names(command, each)}
    return HostFacts(sorted(names), sorted(variables - _OURS))


def _names(command: Mapping[str, Any], key: str) -> Iterator[str]:
    return iter(found if isinstance(found := command.get(key), dict) else ())


def without_host(contents: Contents, into: Path) -> Contents:
    """The same files, but for records that say it: of these copies below `into`, with the checksums of the copies."""
    sums = defaultdict[str, dict[str, Checksum]](dict)  # by the folder of a result
    made = []
    for name, (_, path) in contents.items():
        if (record := _RECORDS.fullmatch(name)) and not path.is_symlink() and (content := _anonymous(path)):
            sums[record[1]][record[2]] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            made.append(_written(into / name, content))
    for folder, changed in sums.items():
        if (name := f"{folder}/{checksums.RECORD}") in contents:
            made.append(_written(into / name, _sealed(contents[name][1], changed)))
    copies = {str(path.relative_to(into)): (into, path) for path in (*made, *_tables(contents, into))}
    return {**contents, **copies}


def _written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def _anonymous(path: Path) -> bytes | None:
    """Nothing where it says nothing of the host, or cannot be read."""
    record = read_json(path)
    found = _without(record)
    return None if found == record else _text(found)


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _field(name, each) for name, each in value.items()}
    return [_without(each) for each in value] if isinstance(value, list) else value


def _field(name: str, value: Any) -> Any:
    if name in (HOSTNAME, cluster_job.NODE) and isinstance(value, str):
        return pseudonym(value)
    if name == ENVIRONMENT and isinstance(value, dict):
        return {each: said for each, said in value.items() if each not in PRIVATE}
    return _without(value)


def _sealed(record: Path, changed: Mapping[str, Checksum]) -> bytes:
    said = read_json(record)
    if isinstance(files := said.get("files"), dict):
        said["files"] = {**files, **{name: entry for name, entry in changed.items() if name in files}}
    return _text(said)


def _text(value: Any) -> bytes:
    return (json.dumps(value, indent=1) + "\n").encode()


# The tables of the report that goes along for people: they are made of the records.


def _tables(contents: Contents, into: Path) -> Iterator[Path]:
    for name, columns, changed in (
        ("environment", result_schema.ENVIRONMENT, _fact),
        ("history", result_schema.HISTORY, _past),
    ):
        path = f"report/tables/{name}.parquet"
        if path in contents:
            _rewritten(contents[path][1], into / path, columns, changed)
            yield into / path


def _rewritten(
    source: Path, target: Path, columns: Mapping[str, str], changed: Callable[[parquet.Row], parquet.Row]
) -> None:
    import duckdb

    target.parent.mkdir(parents=True, exist_ok=True)
    names = ", ".join(map(parquet.named, columns))
    with parquet.connect() as connection:
        try:
            found = connection.execute(f"SELECT {names} FROM {parquet.files([source])}").fetchall()
        except duckdb.Error:
            raise BuildError(f"{source} is damaged; remove it, and `stepgrid report` makes it again") from None
        rows = (changed(dict(zip(columns, row, strict=True))) for row in found)
        parquet.write_rows(connection, target, columns, rows)


def _fact(row: parquet.Row) -> parquet.Row:
    scope, name, value = row["scope"], row["name"], str(row["value"])
    if scope == "host" and name == HOSTNAME:
        return {**row, "value": pseudonym(value)}
    if scope == "command" and name == ENVIRONMENT:
        kept = {each: said for each, said in json.loads(value).items() if each not in PRIVATE}
        return {**row, "value": json.dumps(kept, ensure_ascii=False, sort_keys=True)}
    return row


def _past(row: parquet.Row) -> parquet.Row:
    return {**row, "host": pseudonym(str(row["host"]))} if row["host"] else row
