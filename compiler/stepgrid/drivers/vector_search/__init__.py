"""Steps of kind vector_search: vectors loaded, indexed, and searched for their nearest neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.drivers.vector_search import command
from stepgrid.drivers.vector_search.datasets.shape import SUFFIXES, USUAL, shape_of, size_of
from stepgrid.plugins.driver import PackageRunner

if TYPE_CHECKING:
    from stepgrid.lint.rule import Rule
    from stepgrid.model.command import Command
    from stepgrid.model.metrics.metric import MetricSet
    from stepgrid.plugins.driver import Context, DeclaredBuild, Runner

LOAD_RATE = 2_000  # vectors per second of a small machine: only for estimates
INDEX_RATE = 500
SEARCH_RATE = 500  # of one connection
EXACT_VALUES = 50_000_000  # numbers per second that an exact search looks at
QUERIES = 10_000  # of a file
FLOOR = 1.0


class VectorSearch(PackageRunner):
    kind = "vector_search"
    revision = 2
    parser = 2
    tables = ("recall",)

    def metrics(self) -> MetricSet:
        from stepgrid.drivers.vector_search.parser import METRICS

        return METRICS

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["action"])

    def words(self, settings: Mapping[str, Any]) -> Sequence[str]:
        """A published name may be a file that is here; a plan needs no more than the name."""
        return command.files(settings["dataset"])

    def listed(self, settings: Mapping[str, Any]) -> Sequence[str]:
        return [name for name in command.files(settings["dataset"]) if settings["dataset"].endswith(SUFFIXES)]

    def estimate(self, settings: Mapping[str, Any]) -> float:
        action, (rows, dimensions, queries) = settings["action"], _size(settings["dataset"])
        if action == "load":
            return max(FLOOR, rows / LOAD_RATE)
        if action == "index":
            return max(FLOOR, rows / INDEX_RATE)
        rate = EXACT_VALUES / (rows * dimensions) if settings["exact"] else SEARCH_RATE
        return max(FLOOR, queries * int(settings["runs"]) / rate)

    def rules(self) -> Sequence[Rule]:
        from stepgrid.drivers.vector_search.lints import RULES

        return RULES

    def facts(self, settings: Mapping[str, Any], build: DeclaredBuild) -> Mapping[str, Any]:
        """What is not known of a file is None."""
        rows, dimensions = size_of(settings["dataset"]) or (None, None)
        shape = shape_of(settings["dataset"])
        return {
            "vectors": rows,
            "vector_dimensions": dimensions,
            "vector_distribution": shape.distribution if shape else None,
            "vector_engine": build.engine,
        }

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Command:
        return command.command(settings, context)

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        from stepgrid.drivers import client_report

        return client_report.live(folder)

    def complaint(self, folder: Path) -> str | None:
        return command.complaint(folder)


def _size(dataset: str | Mapping[str, Any]) -> tuple[int, int, int]:
    shape = shape_of(dataset)
    rows, dimensions = size_of(dataset) or USUAL
    return rows, dimensions, shape.queries if shape else QUERIES


DRIVER: Runner = VectorSearch()
