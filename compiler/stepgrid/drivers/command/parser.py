"""The metrics of a command: what its patterns and paths find in what it printed and wrote."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from stepgrid.drivers.command import patterns
from stepgrid.drivers.command.jsonpath import find
from stepgrid.drivers.command.outputs import PRINTED, Outputs
from stepgrid.drivers.command.patterns import PatternError
from stepgrid.drivers.command.series import series
from stepgrid.model.figures import Figures, ParseError, decimal
from stepgrid.model.metrics.metric import STEP, Metric

TAKE: Mapping[str, Callable[[Sequence[float]], float]] = {
    "first": lambda found: found[0],
    "last": lambda found: found[-1],
    "sum": math.fsum,
    "mean": fmean,
    "min": min,
    "max": max,
}


def parse(folder: Path, settings: Mapping[str, Any]) -> Figures:
    outputs = Outputs(folder)
    metrics: dict[str, float] = {}
    for name, metric in settings["metrics"].items():
        numbers = [_number(name, metric, value) for value in _found(metric, outputs)]
        if numbers:
            metrics[name] = TAKE[metric.get("take") or "last"](numbers) * (metric.get("times") or 1.0)
        elif metric["required"]:
            raise ParseError(f"metric `{name}`: {_lacking(metric, outputs)}")
    said = settings.get("series")
    return Figures(metrics, qps=series(outputs, said) if said else ())


def _found(metric: Mapping[str, Any], outputs: Outputs) -> list[Any]:
    if metric.get("json"):
        document = outputs.document(metric.get("file") or PRINTED[0])
        return [] if document is None else find(document, metric["json"])
    return _matches(metric["pattern"], [outputs.text(name) for name in _files(metric)])


def _files(metric: Mapping[str, Any]) -> Sequence[str]:
    return (metric["file"],) if metric.get("file") else PRINTED


def _matches(pattern: str, texts: Sequence[str | None]) -> list[str]:
    """What the group held, of the first text where it held anything: stdout goes before stderr."""
    try:
        return next(filter(None, (patterns.matches(pattern, text or "") for text in texts)), [])
    except PatternError as error:
        raise ParseError(str(error)) from None


def _number(name: str, metric: Mapping[str, Any], value: Any) -> float:
    """A number that is written as text is one; true is none."""
    if isinstance(value, str):
        number = decimal(value)
    else:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if not math.isfinite(number):
        where = metric["json"] if metric.get("json") else "its pattern"
        raise ParseError(f"metric `{name}`: {where} found {_shown(value)}, which is no number")
    return number


def _shown(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", bool: str(value).lower()}
    return kinds.get(type(value), f"`{value}`")


def _lacking(metric: Mapping[str, Any], outputs: Outputs) -> str:
    if metric.get("file") and outputs.text(metric["file"]) is None:
        return f"there is no file {metric['file']}"
    if metric.get("json"):
        return f"{metric.get('file') or PRINTED[0]} has nothing at {metric['json']}"
    return f"nothing in {' or '.join(_files(metric))} matches {metric['pattern']}"


# Its metrics: a spec gives them their names.


def own_metrics(settings: Mapping[str, Any]) -> dict[str, Metric]:
    return {name: _metric(name, said) for name, said in (settings.get("metrics") or {}).items()}


def _metric(name: str, said: Mapping[str, Any]) -> Metric:
    where = f"at {said['json']}" if said.get("json") else f"by the pattern {said['pattern']}"
    definition = f"A figure of the command's own, found {where}."
    return Metric(name, said["unit"], said["better"], definition, STEP)
