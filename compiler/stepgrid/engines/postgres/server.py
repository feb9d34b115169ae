"""How a PostgreSQL server is set up and started: no network, a password for this start alone.

A password in the database would be that of the image that it was restored from. So the role that initdb makes has none:
by `peer` it is open to whoever runs the benchmark and to nobody else, and it gives the benchmark's role its password
at the first connection after each start (connection.py).
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping, Sequence
from typing import Any

from stepgrid.model.command import Command
from stepgrid.plugins.server import ServerHome, templates

OWNER = "stepgrid_owner"
CONFIGURATION = "postgresql.conf"


def configuration(home: ServerHome, options: Mapping[str, Any]) -> Mapping[str, str]:
    found = templates("postgres")
    values = {**_places(home), "options": {name: quoted(value) for name, value in options.items()}}
    return {name: found.get_template(f"{name}.j2").render(values) for name in _names()}


def _names() -> tuple[str, ...]:
    return (CONFIGURATION, "pg_hba.conf", "pg_ident.conf")


def _places(home: ServerHome) -> dict[str, str]:
    """The folder may have been moved there under a relative name: a server changes to its data directory."""
    folder = home.folder.absolute()
    return {
        "sockets": quoted(str(home.access.sockets)),
        "port": quoted(home.access.port),
        "hba": quoted(str(folder / "pg_hba.conf")),
        "ident": quoted(str(folder / "pg_ident.conf")),
        "owner": OWNER,
        "account": f'"{home.account or _account()}"',
    }


def _account() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # a user without a passwd entry
        return str(os.geteuid())


def quoted(value: Any) -> str:
    """A value as postgresql.conf has it: in quotes, which it takes for numbers too."""
    text = ("on" if value else "off") if isinstance(value, bool) else str(value)
    escaped = text.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n")
    return f"'{escaped}'"


def initialize(home: ServerHome) -> Sequence[Command]:
    """Checksums as the build has them by default; the C locale, so that no library of the host decides an order."""
    argv = (
        *home.programs["initdb"],
        f"--pgdata={home.data}",
        f"--username={OWNER}",
        "--auth-local=peer",
        "--auth-host=reject",
        "--locale=C",
        "--encoding=UTF8",
    )
    return (Command(argv),)


def serve(home: ServerHome) -> Command:
    """What initdb wrote to the data directory's own postgresql.conf is not read: the build's defaults hold."""
    config = f"config_file={home.folder.absolute() / CONFIGURATION}"
    return Command((*home.programs["postgres"], "-D", str(home.data.absolute()), "-c", config))
