"""What a client was told by a server that runs, where it has another reason than the client's own."""

from __future__ import annotations

import json
import re
from pathlib import Path

from stepgrid.host.failure import last_bytes
from stepgrid.run.server.server_handle import ReachedServer

# of mysqld and mariadbd, and of PostgreSQL in several releases
NO_CONNECTION = re.compile(
    r"Too many connections|too many clients already|remaining connection slots are reserved|more than 'max_user_conn"
)
_MOST = "max_connections"
_TO_DO = "raise `max_connections`, or lower the number of the step's clients"


def refused(server: ReachedServer, step: Path) -> str | None:
    """`step`: the folder with what the client said."""
    if any(NO_CONNECTION.search(last_bytes(step / name)) for name in ("stderr", "stdout")):
        most = _setting(server, _MOST)
        known = f" (it has {most})" if most else ""
        return f"the server had no free connection{known}: {_TO_DO}"
    return None


def _setting(server: ReachedServer, name: str) -> str | None:
    try:
        found = json.loads((server.folder / "effective.json").read_text(encoding="utf-8"))["values"].get(name)
    except (OSError, ValueError, KeyError):
        return None
    return None if found is None else str(found)
