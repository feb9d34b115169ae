"""Where a published figure is made by a rule that is not ours: what stands there, and what we have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stepgrid.collect import series
from stepgrid.plugins.importer import PublishedFigure
from stepgrid_importers.insert_benchmark import metric_rows, results, steps
from stepgrid_importers.insert_benchmark.folder import Records
from stepgrid_importers.insert_benchmark.metric_rows import Sum

RATES, BANNERS, WALL = "p50 and p99", "csps, cpups, cspq and cpupq", "ips and qps"
_METRICS: Mapping[str, tuple[str, str]] = {
    "ips": ("inserts_per_s", WALL),
    "qps": ("qps", WALL),
    "csps": ("context_switches_per_s", BANNERS),
    "cspq": ("context_switches_per_op", BANNERS),
    "cpupq": ("host_cpu_us_per_op", BANNERS),
    "p50": ("median_qps", RATES),
    "p99": ("worst_qps_p99", RATES),
}
_DIGITS: Mapping[str, str] = {"cspq": ".3f", "cpupq": ".0f"}


def beside(found: Records) -> list[PublishedFigure]:
    return [each for one in metric_rows.sums(found) for each in _of(one)]


def _of(one: Sum) -> Iterator[PublishedFigure]:
    """Only raw files say anything else than the row."""
    if not one.raw:
        return
    found = results.figures(one, None)
    known = {**series.series_figures(found.qps), **found.metrics}
    for column, (metric, why) in _METRICS.items():
        clean = format(known[metric], _DIGITS.get(column, ".0f")) if metric in known else ""
        if clean != one.cells.get(column, "") and not (column == "qps" and steps.asked(one.step) is None):
            yield PublishedFigure(one.path.name, f"{one.tag} {one.step}", column, one.cells.get(column, ""), clean, why)
