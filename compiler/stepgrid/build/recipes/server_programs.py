"""What a build of a server provides: the programs that it must have, and those that some routes bring as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from stepgrid.build.error import BuildError


class Programs(NamedTuple):
    needed: tuple[str, ...]
    optional: tuple[str, ...] = ()  # clients: a route without them leaves a build that another one's clients ask


PROGRAMS: Mapping[str, Programs] = {
    "mysql": Programs(("mysqld",), ("mysql", "mysqladmin")),
    "mariadb": Programs(("mariadbd",), ("mariadb", "mariadb-admin")),
    "postgres": Programs(("postgres", "initdb", "pg_ctl"), ("psql", "pgbench", "pg_isready")),
    "sysbench": Programs(("sysbench",)),
}
_OLDER = {"mariadbd": "mysqld", "mariadb": "mysql", "mariadb-admin": "mysqladmin"}
_FOLDERS = ("bin", "sbin", "libexec")


def find(prefix: Path, engine: str, what: str) -> dict[str, Path]:
    """By name, those of the server's own folder first: elsewhere a name may be that of a wrapper."""
    wanted = PROGRAMS[engine]
    places = list(_places(prefix, wanted.needed[0]))
    found = {name: path for name in (*wanted.needed, *wanted.optional) if (path := _first(places, name))}
    missing = [name for name in wanted.needed if name not in found]
    if missing:
        there = sorted({path.name for place in places for path in place.iterdir()})
        raise BuildError(f"{what} has no program {missing[0]}; its programs are: {', '.join(there) or 'none'}")
    return found


def _places(prefix: Path, server: str) -> Iterator[Path]:
    folders = [path for name in _FOLDERS for path in sorted(prefix.rglob(name)) if path.is_dir()]
    real = [path for path in dict.fromkeys(path.resolve() for path in folders) if path.is_relative_to(prefix.resolve())]
    below = [prefix / path.relative_to(prefix.resolve()) for path in real]
    return iter(sorted(below, key=lambda place: _first([place], server) is None))


def _first(places: list[Path], name: str) -> Path | None:
    paths = (place / each for each in (name, _OLDER.get(name, name)) for place in places)
    return next((path for path in paths if path.is_file()), None)
