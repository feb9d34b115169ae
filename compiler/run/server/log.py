"""What a server's log says is wrong, as the end of a sentence."""

from __future__ import annotations

import re
from pathlib import Path

from compiler.run.failure import last_bytes

# mysqld and mariadbd: [ERROR] [MY-000077] [Server] /path/to/mysqld: text; postgres: FATAL:  text
_COMPLAINT = re.compile(r"(?:\[ERROR\]|\bFATAL:|\bPANIC:)(?: ?\[[^\]]*\])*\s*(?:/\S+: )?(?P<text>\S.*)")
_NEVER = ("Aborting", "the database system is starting up", "the database system is shutting down")


def first_complaint(log: Path) -> str:
    """The first of its errors, as far as the end of the log goes; empty where it names none."""
    found = (match["text"].strip().rstrip(".") for match in _COMPLAINT.finditer(last_bytes(log)))
    return next((text for text in found if text not in _NEVER), "")
