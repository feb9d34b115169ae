"""SQLite, which lives in the program that uses it: its command `sqlite3`."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from stepgrid.plugins.engine import Built, EngineBase, Identity, IdentityError, OptionInfo, Run, last_lines

_SAID = re.compile(r"^(3\.\d+(?:\.\d+)+) ")
_MARK = "pragma:"
_STATE = (
    "data_version",
    "freelist_count",
    "integrity_check",
    "page_count",
    "quick_check",
    "schema_version",
)  # no setting


class Sqlite(EngineBase):
    name = "sqlite"
    programs: tuple[str, ...] = ("sqlite3",)
    kinds: tuple[str, ...] = ("sqlite", "command")
    storage_engines: tuple[str, ...] = ("btree",)
    default_storage_engine = "btree"
    bookkeeping = ("*-wal", "*-shm", "*-journal")
    reserved: Mapping[str, str] = {"query_only": "", "writable_schema": ""}
    choices: Mapping[str, Sequence[str]] = {
        "auto_vacuum": ("none", "full", "incremental", "0", "1", "2"),
        "journal_mode": ("delete", "truncate", "persist", "memory", "wal", "off"),
        "locking_mode": ("normal", "exclusive"),
        "synchronous": ("off", "normal", "full", "extra", "0", "1", "2", "3"),
        "temp_store": ("default", "file", "memory", "0", "1", "2"),
    }

    def identify(self, run: Run) -> Identity:
        stdout, stderr = run("sqlite3", ("--version",))
        match = _SAID.match(stdout)
        if match is None:
            raise IdentityError(f"sqlite3 --version does not say which it is; it said: {last_lines(stdout + stderr)}")
        options, _ = run("sqlite3", (":memory:", "PRAGMA compile_options"))
        return Identity(match[1], facts={"said": stdout.strip(), "compile options": " ".join(options.split())})

    def catalogue(self, run: Run) -> Mapping[str, OptionInfo]:
        """Pragmas that have one value, with the value that a new database gives them."""
        names, stderr = run("sqlite3", (":memory:", "PRAGMA pragma_list"))
        questions = [f"SELECT '{_MARK}{name}'; PRAGMA {name};" for name in names.split() if name not in _STATE]
        if not questions:
            raise IdentityError(f"sqlite3 lists no pragmas; it said: {last_lines(names + stderr)}")
        with tempfile.TemporaryDirectory() as folder:
            stdout, _ = run("sqlite3", (f"{folder}/new.sqlite", " ".join(questions)))
        return {name: OptionInfo(name, "string", value, "") for name, value in _single(stdout)}


def _single(answers: str) -> Iterator[tuple[str, str]]:
    for part in answers.split(_MARK)[1:]:
        name, *rows = part.splitlines()
        if len(rows) == 1 and "|" not in rows[0]:
            yield name, rows[0]


ENGINE: Built = Sqlite()
