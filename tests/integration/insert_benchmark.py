"""Steps of the insert benchmark run by themselves against a server."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stepgrid.drivers.insert_benchmark import DRIVER
from stepgrid.host.processes.supervision import environment
from stepgrid.model.figures import Figures
from stepgrid.plugins.driver import Context
from stepgrid.run.step_files import attach
from tests.integration.sysbench import Bench

LONG = 60.0
ALL = "count, min, max, checksum"  # what the check of a table of one client looks at


@dataclass(frozen=True)
class Step:
    """One that was started: its settings, its folder and its client."""

    settings: Mapping[str, Any]
    folder: Path
    client: subprocess.Popen[bytes]

    def ended(self) -> int:
        return self.client.wait(LONG)

    @property
    def figures(self) -> Figures:
        return DRIVER.parse(self.folder, self.settings)

    @property
    def lines(self) -> list[dict[str, Any]]:
        path = self.folder / "report.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def complaint(self) -> str | None:
        return DRIVER.complaint(self.folder)  # type: ignore[attr-defined]


def start(bench: Bench, action: str, seed: int = 7, *, anew: bool = False, **given: Any) -> Step:
    folder = bench.folder / f"step-{len(list(bench.folder.glob('step-*')))}"
    folder.mkdir()
    settings = DRIVER.settings_model().model_validate({"action": action, **given}).model_dump(mode="json")
    access = bench.access._replace(running=anew)
    made = DRIVER.command(settings, {}, Context({"sysbench": bench.sysbench}, "", folder, folder, seed, access))
    attach(folder, {**DRIVER.files(settings, str), **made.files})  # type: ignore[attr-defined]
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        client = subprocess.Popen(made.argv, cwd=folder, env=environment(made.env), stdout=out, stderr=err)
    return Step(settings, folder, client)


def run(bench: Bench, action: str, seed: int = 7, **given: Any) -> Step:
    step = start(bench, action, seed, **given)
    assert step.ended() == 0, step.complaint
    return step


def checked(bench: Bench) -> Sequence[Mapping[str, Any]]:
    """What the check says of each table."""
    return [line for line in run(bench, "check").lines if line["report"] == "check"]


@contextmanager
def server_folder() -> Iterator[Path]:
    """Where everyone may go: a server is nobody's."""
    folder = Path(tempfile.mkdtemp(prefix="insert-benchmark-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
