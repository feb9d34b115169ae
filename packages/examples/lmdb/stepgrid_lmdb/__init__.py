"""LMDB for stepgrid. Here is the driver, steps of kind lmdb: the command of a step, which is a program of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.model.plan import Command, Value
from stepgrid.plugins.driver import Context, PackageRunner, ParserMetrics, Runner, as_text
from stepgrid.plugins.hit_rate import FOUND_KEYS

PROGRAM = "workload.py"
KEYS_PER_S = 100_000  # for estimates


class LmdbDriver(ParserMetrics, PackageRunner):
    kind = "lmdb"
    revision = 1
    parser = 1
    tables = ("relative", "lmdb_tree")
    work_figures = (FOUND_KEYS,)

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["workload"])

    def estimate(self, settings: Mapping[str, Any]) -> float:
        return float(settings["duration"] or max(1.0, settings["keys"] / KEYS_PER_S))

    def files(self, settings: Mapping[str, Any], read_file: Callable[[str], str]) -> Mapping[str, str]:
        """Give the program of the step: its text is part of the identity."""
        return {PROGRAM: Path(__file__).with_name(PROGRAM).read_text(encoding="utf-8")}

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Value], context: Context) -> Command:
        words = {**settings, "data": context.data.absolute(), "seed": context.seed}
        arguments = [f"{name}={as_text(value)}" for name, value in words.items() if value is not None]
        flags = [f"--{name}={as_text(value)}" for name, value in options.items()]
        return Command((*context.programs["python"], PROGRAM, *arguments, *flags), duration=settings["duration"])

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        from stepgrid_lmdb.parser import rates

        return rates(folder)


DRIVER: Runner = LmdbDriver()
