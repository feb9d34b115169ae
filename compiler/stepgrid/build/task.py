"""A build that is to be made: what, where, with which tools."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepgrid.build.command_runner import Commands
from stepgrid.language.sources import source_key
from stepgrid.model.plan import PlannedBuild
from stepgrid.model.site import Site
from stepgrid.plugins.engine import Built, DeclaredBuilds


@dataclass(frozen=True, slots=True)
class Order:
    build: PlannedBuild
    engine: Built
    folder: Path  # the attempt's; by rename it becomes the build, so nothing in it may hold its path
    commands: Commands
    site: Site

    def pin(self, source: Mapping[str, Any]) -> str | None:
        """The commit or checksum that the lock file holds a source to; None when it holds none."""
        return self.build.pins.get(source_key(source))

    @property
    def programs(self) -> tuple[str, ...]:
        """What it must provide: an engine says it, or the build itself does."""
        own = self.engine.program_paths(self.build.recipe) if isinstance(self.engine, DeclaredBuilds) else ()
        return self.engine.programs or tuple(own) or (Path(str(self.build.source.get("system", ""))).name,)

    @property
    def jobs(self) -> int:
        """Each build asks for all cores; `-l` of make and ninja keeps builds beside each other from crowding them."""
        return len(os.sched_getaffinity(0))
