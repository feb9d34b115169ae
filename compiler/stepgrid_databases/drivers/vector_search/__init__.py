"""Steps of kind vector_search: vectors loaded, indexed, and searched for their nearest neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepgrid.model.plan import Value
from stepgrid.plugins import driver
from stepgrid.plugins.driver import PackageRunner, ParserMetrics, RefusedError
from stepgrid.plugins.work import WorkFigure
from stepgrid_databases.drivers.vector_search.datasets import SUFFIXES, USUAL, file_name, is_file, shape_of, size_of

if TYPE_CHECKING:
    from stepgrid.lint.rule import Rule
    from stepgrid.model.plan import Command
    from stepgrid.plugins.driver import Context, DeclaredBuild, Runner

VECTORS_LOADED_PER_S = 1_000  # vectors per second of a small machine: only for estimates
INDEX_RATE = 250
SEARCH_RATE = 500  # of one connection
EXACT_VALUES = 100_000_000  # numbers per second that an exact search looks at
QUERIES = 10_000  # of a file
SHORTEST_STEP = 1.0  # seconds
BEGINNING = "vector search failed: "
LACKING = "the data set `{name}` is not here: put the file {file} beside the spec, in the layout of ann-benchmarks"


class VectorSearch(ParserMetrics, PackageRunner):
    kind = "vector_search"
    revision = 3
    parser = 3
    tables = ("recall",)
    work_figures = (WorkFigure("recall", "recall {:.3g}", 0.05),)

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return str(settings["action"])

    def words(self, settings: Mapping[str, Any]) -> Sequence[str]:
        """Name the file of a data set: it may be missing, a plan needs no more than the name."""
        return input_files(settings["dataset"])

    def listed(self, settings: Mapping[str, Any]) -> Sequence[str]:
        return [name for name in input_files(settings["dataset"]) if settings["dataset"].endswith(SUFFIXES)]

    def targets(self, settings: Mapping[str, Any]) -> Mapping[str, float]:
        return {"target_qps": float(settings["rate"])} if settings.get("rate") else {}

    def estimate(self, settings: Mapping[str, Any]) -> float:
        action, shape = settings["action"], shape_of(settings["dataset"])
        rows, dimensions = size_of(settings["dataset"]) or USUAL
        if action == "load":
            return max(SHORTEST_STEP, rows / VECTORS_LOADED_PER_S)
        if action == "index":
            return max(SHORTEST_STEP, rows / INDEX_RATE)
        rate = EXACT_VALUES / (rows * dimensions) if settings["exact"] else SEARCH_RATE
        rate = min(rate, settings.get("rate") or rate)
        queries = shape.queries if shape else QUERIES
        return max(SHORTEST_STEP, queries * int(settings["runs"]) / rate)

    def rules(self) -> Sequence[Rule]:
        from stepgrid_databases.drivers.vector_search.settings import RULES

        return RULES

    def facts(self, settings: Mapping[str, Any], build: DeclaredBuild) -> Mapping[str, Any]:
        """Describe the vectors; None where a file is not known."""
        rows, dimensions = size_of(settings["dataset"]) or (None, None)
        shape = shape_of(settings["dataset"])
        return {
            "vectors": rows,
            "vector_dimensions": dimensions,
            "vector_distribution": shape.distribution if shape else None,
            "vector_engine": build.engine,
        }

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Value], context: Context) -> Command:
        dataset, file = settings["dataset"], None
        for name in input_files(dataset):
            if name not in context.inputs:
                raise RefusedError(LACKING.format(name=dataset, file=name))
            file = context.inputs[name]
        cache = str((context.cache or context.folder).absolute())
        request: dict[str, Any] = {"settings": dict(settings), "cache": cache, "file": file}
        if settings.get("rate"):
            request["seed"] = context.seed  # of random arrivals
        return driver.server_request(__name__, context, request)

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        from stepgrid_databases.drivers import client_report

        return client_report.live(folder)

    def complaint(self, folder: Path) -> str | None:
        return driver.last_complaint(folder, BEGINNING)


def input_files(dataset: str | Mapping[str, Any] | None) -> Sequence[str]:
    """Name the files that a data set is read from, as the spec would."""
    return (file_name(dataset),) if isinstance(dataset, str) and is_file(dataset) else ()


def failure(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return f"{BEGINNING}{text}"


DRIVER: Runner = VectorSearch()
