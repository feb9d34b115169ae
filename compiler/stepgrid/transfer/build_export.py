"""A finished build as one file: its folder, and a manifest before it with the checksum of every file."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepgrid.build.error import BuildError
from stepgrid.build.record import RECORD
from stepgrid.transfer import bundle, manifest

CONTENT = "build"
FORMAT = 1


def export(folder: Path, file: Path) -> Mapping[str, Any]:
    """Writes it; gives the manifest."""
    record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    bundle.check_name(file)
    _refuse_fixed(record)
    said = {"format": FORMAT, "id": record["id"], "machine": platform.machine(), "files": manifest.files(folder)}
    bundle.write(file, said, {f"{CONTENT}/{name}": folder / name for name in said["files"]})
    return said


def _refuse_fixed(record: Mapping[str, Any]) -> None:
    """Programs that are not in the build's folder stay where they are."""
    words = [word for argv in record["programs"].values() for word in argv]
    if found := next((word for word in words if word.startswith("/")), None):
        raise BuildError(f"{record['name']} runs {found}, which belongs to this machine: there is nothing to move")
    if "declared" not in record:
        raise BuildError(f"{record['name']} was made by a version that did not record all of it; make it again")
