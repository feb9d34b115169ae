"""The published summary files in a folder, and beside them a table of the figures that we have otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from stepgrid.plugins.importer import Beside

BESIDE = "legacy-and-clean.tsv"
_HEADS = ("file", "row", "figure", "legacy", "clean", "why")


def write(folder: Path, files: Mapping[str, str], beside: Sequence[Beside]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
    if beside:
        rows = [_HEADS, *((e.file, e.row, e.figure, e.legacy, e.clean, e.why) for e in beside)]
        (folder / BESIDE).write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
