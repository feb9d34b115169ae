"""What a step's files say: the output of sysbench, and the report that the workloads write beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from stepgrid.drivers.sysbench.command import LOAD
from stepgrid.drivers.sysbench.parser import exact, facts, fatal, parse
from stepgrid.model.figures import Figures, ParseError
from stepgrid.plugins import raw_output

OUTPUT = "stdout"


def of_folder(folder: Path, settings: Mapping[str, Any]) -> Figures:
    text, reported = read(folder / OUTPUT), exact.read(folder)
    try:
        found = _loaded(text, reported) if settings["lua"] == LOAD else _measured(text, reported)
    except ParseError as problem:
        raise ParseError(f"{folder / OUTPUT}: {problem}") from None
    if settings["lua"] == "scan":
        found = replace(found, metrics={**found.metrics, "rows_per_s": found.metrics["qps"] * settings["rows"]})
    return found


def complaint(folder: Path) -> str | None:
    """Why a run failed, in its words."""
    try:
        said = fatal(read(folder / OUTPUT))
    except ParseError:
        return None
    return f"sysbench failed: {said}" if said else None


def read(path: Path) -> str:
    try:
        content = raw_output.read(path)
    except FileNotFoundError:
        raise ParseError(f"{path}: there is no such file, where sysbench's output was expected") from None
    except OSError as error:
        raise ParseError(f"{path} cannot be read: {error.strerror or error}") from None
    return content.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")


def _measured(text: str, reported: exact.Lines) -> Figures:
    found = parse(text)
    return replace(found, metrics={**found.metrics, **exact.figures(reported)}, qps=exact.series(reported) or found.qps)


def _loaded(text: str, reported: exact.Lines) -> Figures:
    """Its latencies are those of statements of many rows, and of an index that is made: no operation's."""
    said, metrics = parse(text), exact.loaded(reported)
    if not metrics:
        raise ParseError(f"the load has no end: {exact.REPORT} beside it names no table and no total")
    return Figures(metrics, facts(text), exact.series(reported), said.warnings)
