"""What one job needs to know: its stage, its build, and where things are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from compiler.build.programs import absolute
from compiler.language.site import Site
from compiler.plan import files
from compiler.plan.model import PlannedBuild, PlannedStage
from compiler.run.failure import StageError
from compiler.store.store import Store


@dataclass(frozen=True)  # no slots: cached_property needs a dict
class Job:
    store: Store
    plan: str
    stage: PlannedStage
    site: Site = field(default_factory=Site)

    @classmethod
    def of(cls, store: Store, plan: str, stage: str, site: Site | None = None) -> Job:
        return cls(store, plan, files.stage(store.plan(plan), stage), site or Site())

    @cached_property
    def header(self) -> Mapping[str, Any]:
        return files.read_header(self.store.plan(self.plan))

    @cached_property
    def build(self) -> PlannedBuild:
        return files.build(self.store.plan(self.plan), self.stage.build)

    @cached_property
    def record(self) -> Mapping[str, Any]:
        """build.json."""
        path = self.store.build(self.stage.build) / "build.json"
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise StageError(f"the build {self.build.name} is not there ({path}); make it first") from None
        except ValueError:
            raise StageError(f"{path} is damaged; run the same command again, which makes the build again") from None
        return found

    @cached_property
    def programs(self) -> Mapping[str, tuple[str, ...]]:
        """Program -> argv prefix, with absolute paths."""
        folder = self.store.build(self.stage.build).resolve()
        return {name: absolute(folder, prefix) for name, prefix in self.record["programs"].items()}

    def ancestors(self) -> list[PlannedStage]:
        """The stages before this one, root first."""
        chain: list[PlannedStage] = []
        parent = self.stage.parent
        while parent is not None:
            chain.append(files.stage(self.store.plan(self.plan), parent))
            parent = chain[-1].parent
        return chain[::-1]
