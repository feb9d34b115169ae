"""Warnings that a person saw today are counted, not repeated."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import date

from stepgrid.host import files
from stepgrid.language.files import digest
from stepgrid.model.units import counted
from stepgrid.store.store import Store

ALL = "STEPGRID_ALL_WARNINGS"  # set by --all-warnings
_WARNING = re.compile(r"^\S.*?: warning\[", re.MULTILINE)


def once_a_day(store: Store, spec: str, text: str, note: bool = True) -> str:
    """The text, or one line where it was shown for this spec today. Without a store there is nothing to note it in."""
    warnings = len(_WARNING.findall(text))
    if not warnings or os.environ.get(ALL):
        return text
    kept = {"day": date.today().isoformat(), "warnings": digest(text.encode())}
    key = digest(os.path.abspath(spec).encode())[:20]  # noqa: PTH100 - an import less
    if files.read_json(store.shown_warnings(key)) == kept:
        return f"{spec}: {counted(warnings, 'warning')}, shown before today; --all-warnings shows them again"
    if note and store.root.is_dir():
        with suppress(OSError):  # a store that cannot be written
            store.note_shown_warnings(key, kept)
    return text
