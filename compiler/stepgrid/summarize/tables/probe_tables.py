"""The tables of probes in a report that names no tables: their seconds by step, and what was counted around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stepgrid.plugins.layout import STEP
from stepgrid.summarize.data.parquet_reader import Place, Run
from stepgrid.summarize.tables.arrangement import Said

TOP = 5  # counters of a probe, as published


def tables(probes: Sequence[str], counters: Mapping[Place, Mapping[str, float]], runs: Sequence[Run]) -> Iterator[Said]:
    """`runs`: those that are measured."""
    for probe in probes:
        steps = dict.fromkeys(run.step for run in runs if probe in run.metrics)
        if steps:
            yield {"layout": "probes", "metrics": [probe], "title": f"probe {probe}", "where": {STEP: [*steps]}}
        counted = dict.fromkeys(run.step for run in runs if _has(counters.get(run.place, {}), probe))
        if counted:
            title = f"most of what was counted around {probe}"
            named = {"counters": [f"{probe}.*"], "top": TOP, "title": title}
            yield {"layout": "counters", **named, "where": {STEP: [*counted]}}


def _has(found: Mapping[str, float], probe: str) -> bool:
    return any(value > 0 for name, value in found.items() if name.startswith(f"{probe}."))
