"""What one job needs to know: its stage, its builds, and where things are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from stepgrid.build.record import absolute
from stepgrid.host.activity import FirstReading
from stepgrid.host.failure import StageError
from stepgrid.model.plan import Header, PlannedBuild, PlannedStage
from stepgrid.model.site import Site
from stepgrid.plan import plan_file
from stepgrid.store.store import Store


class InstalledBuild(NamedTuple):
    """A build that is there."""

    record: Mapping[str, Any]  # build.json
    programs: Mapping[str, tuple[str, ...]]  # program -> argv prefix, with absolute paths

    @property
    def version(self) -> str:
        return str(self.record["version"])


@dataclass(frozen=True)  # no slots: cached_property needs a dict
class Job:
    store: Store
    plan: str
    stage: PlannedStage
    site: Site = field(default_factory=Site)
    first: FirstReading | None = None  # of what goes on on this host
    _made: dict[str, InstalledBuild] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls, store: Store, plan: str, stage: str, site: Site | None = None, first: FirstReading | None = None
    ) -> Job:
        return cls(store, plan, plan_file.stage(store.plan(plan), stage), site or Site(), first)

    @cached_property
    def header(self) -> Header:
        return plan_file.read_header(self.store.plan(self.plan))

    @cached_property
    def build(self) -> PlannedBuild:
        return plan_file.build(self.store.plan(self.plan), self.stage.build)

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """build.json of the engine's build."""
        return self.made(self.stage.build).record

    @cached_property
    def programs(self) -> Mapping[str, tuple[str, ...]]:
        """The engine's: program -> argv prefix, with absolute paths."""
        return self.made(self.stage.build).programs

    def made(self, build: str) -> InstalledBuild:
        """The engine's build, or that of a step's client."""
        if build not in self._made:
            record, folder = self._record(build), self.store.build(build).resolve()
            programs = {name: absolute(folder, prefix) for name, prefix in record.get("programs", {}).items()}
            self._made[build] = InstalledBuild(record, programs)
        return self._made[build]

    def _record(self, build: str) -> Mapping[str, Any]:
        path = self.store.build(build) / "build.json"
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            name = plan_file.build(self.store.plan(self.plan), build).name
            raise StageError(f"the build {name} is not there ({path}); make it first") from None
        except ValueError:
            raise StageError(f"{path} is damaged; run the same command again, which makes the build again") from None
        return found

    def ancestors(self) -> list[PlannedStage]:
        """The stages before this one, root first."""
        chain: list[PlannedStage] = []
        parent = self.stage.parent
        while parent is not None:
            chain.append(plan_file.stage(self.store.plan(self.plan), parent))
            parent = chain[-1].parent
        return chain[::-1]
