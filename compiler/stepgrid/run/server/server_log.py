"""What a server's log says is wrong, as the end of a sentence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from stepgrid.host.failure import last_bytes

# mysqld and mariadbd: [ERROR] [MY-000077] [Server] /path/to/mysqld: text; postgres: FATAL:  text, and more behind it
_COMPLAINT = re.compile(
    r"(?:\[ERROR\]|\bFATAL:|\bPANIC:)(?: ?\[[^\]]*\])*\s*(?:/\S+: )?(?P<text>\S.*)(?:\n.*?\bDETAIL:\s+(?P<more>\S.*))?"
)
_NEVER = ("Aborting", "the database system is starting up", "the database system is shutting down")
_ELSEWHERE = re.compile(r'configuration file ".*" contains errors')  # the line before says which
_SETTING = re.compile(r'\bLOG:\s+(?P<text>.*\bparameter ".*)')
_CRASH = re.compile(r"\bLOG:\s+(?P<who>\S.*?)(?: process)? \(PID \d+\) was terminated by signal (?P<signal>\d+)")


class Crash(NamedTuple):
    who: str  # of the server's processes
    signal: int


def first_complaint(log: Path) -> str:
    """The first of its errors, as far as the end of the log goes; empty where it names none."""
    text = last_bytes(log)
    found = (": ".join(filter(None, map(_plain, match.groups()))) for match in _COMPLAINT.finditer(text))
    said = next((each for each in found if each not in _NEVER), "")
    setting = _SETTING.search(text) if _ELSEWHERE.fullmatch(said) else None
    return _plain(setting["text"]) if setting else said


def crashed(log: Path) -> Crash | None:
    """What a server of several processes says of the first of them that was killed; then it starts the others anew."""
    match = _CRASH.search(last_bytes(log))
    return Crash(match["who"], int(match["signal"])) if match else None


def _plain(text: str | None) -> str:
    return (text or "").strip().rstrip(".")
