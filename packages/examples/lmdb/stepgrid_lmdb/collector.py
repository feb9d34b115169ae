"""A program beside a step: how much of the map is in memory, as the kernel says each second."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.plugins.collector import Target, interval

_SIZE = re.compile(r"^\w+: +(\d+) kB$", re.MULTILINE)


class LmdbMap:
    tool = "sh"
    package = "dash"
    settings: tuple[str, ...] = ("every", "field")  # `field` is its own: `settings: {field: Pss}`

    def argv(self, tool: str, settings: Mapping[str, Any], target: Target) -> Sequence[str]:
        look = f"grep ^{settings.get('field', 'Rss')}: /proc/{target.pids[0]}/smaps_rollup"
        return [tool, "-c", f"while {look}; do sleep {interval(settings)}; done"]

    def parse(self, folder: Path) -> Mapping[str, float]:
        path = folder / "stdout"
        sizes = [float(size) for size in _SIZE.findall(path.read_text() if path.is_file() else "")]
        return {"lmdb_mapped_kb": max(sizes)} if sizes else {}


COLLECTOR = LmdbMap()
