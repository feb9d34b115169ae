"""Outputs that a plug-in must read: FOLDER/NAME/CASE holds the files of a step, settings.json and expected.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

SETTINGS, EXPECTED = "settings.json", "expected.json"


class Sample(NamedTuple):
    plugin: str
    folder: Path

    @property
    def title(self) -> str:
        return f"{self.plugin}-{self.folder.name}"

    @property
    def settings(self) -> Mapping[str, Any]:
        """As the spec says them; none of a collector or importer."""
        return self._read(SETTINGS)

    @property
    def expected(self) -> Mapping[str, float]:
        """Metric -> value."""
        return self._read(EXPECTED)

    def _read(self, name: str) -> Mapping[str, Any]:
        path = self.folder / name
        found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
        return found


def samples(folder: Path | None, names: Iterable[str]) -> Iterator[Sample]:
    for name in names if folder else ():
        assert folder is not None
        yield from (Sample(name, path) for path in sorted((folder / name).glob("*")) if path.is_dir())
