"""A spec that uses a plug-in, run for real: what its builds, servers and steps left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

IDS = (
    "import sys, stepgrid; plan = stepgrid.load(sys.argv[1], scale=sys.argv[2] or None).plan(); "
    "print(*sorted(each.id for each in (*plan.builds, *plan.stages)))"
)


class Step(NamedTuple):
    kind: str
    folder: Path
    settings: Mapping[str, Any]


class Sweep(NamedTuple):
    spec: Path
    scale: str | None
    folder: Path
    said: str  # by the run

    @classmethod
    def of(cls, spec: Path, scale: str | None, folder: Path) -> Sweep:
        folder.mkdir(parents=True, exist_ok=True)
        made = cls(spec, scale, folder, "")
        return made._replace(said=made.stepgrid("run"))

    def stepgrid(self, command: str) -> str:
        words = [command, str(self.spec), *(("--scale", self.scale) if self.scale else ())]
        return self._python("-m", "stepgrid.cli", *words)

    def ids(self, seed: str) -> list[str]:
        """Of its builds and stages, as another process computes them."""
        return self._python("-c", IDS, str(self.spec), self.scale or "", PYTHONHASHSEED=seed).split()

    def _python(self, *words: str, **env: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], cwd=self.folder, env={**os.environ, **env}, capture_output=True, text=True
        )
        if done.returncode:
            pytest.fail(f"exit status {done.returncode}: {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def builds(self, engine: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Folder and record."""
        for path in sorted(self.folder.glob("outputs/builds/*/build.json")):
            record = json.loads(path.read_text(encoding="utf-8"))
            if record["engine"] == engine:
                yield path.parent, record

    def servers(self, engine: str) -> Iterator[tuple[Path, list[Mapping[str, Any]]]]:
        """Attempts of results whose build is of the engine, with their journals."""
        builds = {record["id"] for _, record in self.builds(engine)}
        for path in sorted(self.folder.glob("outputs/results/*/*/attempt.json")):
            journal = (path.parent / "journal.jsonl").read_text(encoding="utf-8").splitlines()
            if json.loads(path.read_text(encoding="utf-8"))["build"] in builds:
                yield path.parent, [json.loads(line) for line in journal]

    def steps(self, kind: str) -> Iterator[Step]:
        """All that were measured."""
        from stepgrid.plan.files import plan_file

        plans = [plan_file.read(path.parent) for path in self.folder.glob("outputs/plans/*/plan.json")]
        stages = {stage.id: stage for plan in plans for stage in plan.stages}
        for folder in sorted(self.folder.glob("outputs/results/*/*")):
            for index, step in enumerate(stages[folder.parent.name].steps if folder.parent.name in stages else ()):
                if step.kind == kind:
                    yield from (Step(kind, each, step.settings) for each in folder.glob(f"steps/{index}-*"))
