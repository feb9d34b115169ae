"""What a postgres binary says it is."""

from __future__ import annotations

import re

from stepgrid.engines.mysqld.binary import last
from stepgrid.engines.postgres.options import empty_configuration, value
from stepgrid.plugins.engine import Identity, IdentityError, Run

_SAID = re.compile(r"^\S+ \(PostgreSQL\) (?P<version>\S+).*$", re.MULTILINE)
ASSERTIONS = "Assertions are enabled (configured with --enable-cassert): they make it slow"
_FACTS = {"block size": "block_size", "WAL block size": "wal_block_size"}


def identify(run: Run) -> Identity:
    stdout, stderr = run("postgres", ("--version",))
    match = _SAID.search(stdout)
    if match is None:
        raise IdentityError(f"postgres --version does not say which version it is; it said: {last(stdout + stderr)}")
    with empty_configuration() as folder:
        asserting = value(run, "debug_assertions", folder)
        asked = {fact: value(run, name, folder) for fact, name in _FACTS.items()}
    assertions = None if asserting is None else asserting == "on"
    facts = {"said": match[0], **{fact: said for fact, said in asked.items() if said is not None}}
    return Identity(match["version"], (ASSERTIONS,) if assertions else (), assertions, facts)
