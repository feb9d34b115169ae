"""Holds a fetched file to the checksum that the spec or its lock file says."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stepgrid.build.error import BuildError
from stepgrid.build.task import Order
from stepgrid.host.files import sha256
from stepgrid.model.plan import Json


def checked(file: Path, source: Mapping[str, Json], order: Order, advice: str = "") -> str:
    """The SHA-256 of the file. Where neither says one, it is recorded, which holds nothing."""
    found = sha256(file)
    order.commands.note(f"{file.name}: {file.stat().st_size} bytes, sha256 {found}")
    expected = {"spec": str(source.get("sha256", "")), "lock file": (order.pin(source) or "").removeprefix("sha256:")}
    for who, digest in expected.items():
        if digest and digest != found:
            wrong = f"{file.name} is not the file that the {who} means: its sha256 is {found}, expected {digest}"
            raise BuildError("; ".join(filter(None, (wrong, advice))))
    return found
