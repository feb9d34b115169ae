"""Results of ann-benchmarks: recall and QPS of each index and search, from its plots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from stepgrid.model.figures import Figures
from stepgrid.plugins.importer import Faults, ImportedStep, Importer, ImportProblem, PublishedFigure
from stepgrid_importers.shared import text_files
from stepgrid_importers.vector_search import plot, summaries
from stepgrid_importers.vector_search.plot import Plot, Search

STEP = "search"
PLOT = "plot"  # the axis, where there are several
PARTS, LISTED = "m=4 finds m=48", "ef_search of a plot"
_PARAMETERS = ("m", "ef_construction", "ef_search")

Records = Sequence[Plot]


class VectorSearch:
    kind = "vector_search"

    def read(self, folder: Path, faults: Faults) -> Records:
        return list(_plots(folder, faults))

    def measured(self, records: Records) -> Sequence[ImportedStep]:
        return [_measured(each, search, len(records) > 1) for each in records for search in _in_order(each)]

    def legacy(self, records: Records) -> Mapping[str, str]:
        several = len(records) > 1
        found = (summaries.summaries(each, each.suffix if several else "") for each in records)
        return {name: content for files in found for name, content in files.items()}

    def beside(self, records: Records) -> Sequence[PublishedFigure]:
        suffixes = [each.suffix if len(records) > 1 else "" for each in records]
        plots = list(zip(records, suffixes, strict=True))
        return [line for rule in (_found_twice, _not_listed) for plot_ in plots for line in rule(*plot_)]

    def unsummarized(self, records: Records) -> Sequence[ImportProblem]:
        return [each for found in records for each in _without_summary(found)]

    def aside(self, name: str) -> bool:
        return name.startswith("qr.")


def _plots(folder: Path, faults: Faults) -> Iterator[Plot]:
    for path in sorted(folder.iterdir()):
        if (
            path.is_file()
            and path.name.startswith(plot.NAME)
            and (content := text_files.read(path, faults)) is not None
        ):
            found = plot.read(text_files.readable(content), path, faults)
            for search in found.searches:
                _check(path, search, faults)
            yield found


def _check(path: Path, search: Search, faults: Faults) -> None:
    """Of the engines that there are summaries of: all figures of theirs are by these."""
    needed = ["m", summaries.SEARCHED] if search.name in summaries.ENGINES else []
    needed += ["ef_construction"] if "ef_construction" in search.params or search.name.startswith("PGVector") else []
    for name in needed:
        if not search.params.get(name, "").isdecimal():
            faults.add(path, search.line, f"{search.text} says no {name}=NUMBER")


def _in_order(found: Plot) -> list[Search]:
    """By engine as the plot has them, then by what the index was made with, and how it was searched."""
    names = list(dict.fromkeys(search.name for search in found.searches))
    return sorted(found.searches, key=lambda search: (names.index(search.name), *_numbers(search)))


def _numbers(search: Search) -> tuple[float, ...]:
    return tuple(float(search.params.get(name, 0)) for name in _PARAMETERS)


def _measured(found: Plot, search: Search, several: bool) -> ImportedStep:
    facts = {"dataset": found.dataset} if found.dataset else {}
    return ImportedStep(
        build=search.name,
        step=STEP,
        figures=Figures({"recall": float(search.recall), "qps": float(search.qps)}, facts),
        labels={**({PLOT: found.suffix.lstrip(".")} if several else {}), **_built(search)},
        variables={name: value for name, value in search.params.items() if name == summaries.SEARCHED},
        source=f"{found.path.name}:{search.line}",
    )


def _built(search: Search) -> Mapping[str, str]:
    """What an index was made with."""
    return {name: value for name, value in search.params.items() if name != summaries.SEARCHED}


def _without_summary(found: Plot) -> Iterator[ImportProblem]:
    known = ", ".join(list(summaries.ENGINES)[:-1]) + f" and {list(summaries.ENGINES)[-1]}"
    for name in dict.fromkeys(each.name for each in found.searches if each.name not in summaries.ENGINES):
        lines = [each.line for each in found.searches if each.name == name]
        many = f"{len(lines)} search{'' if len(lines) == 1 else 'es'}"
        yield ImportProblem(
            found.path, lines[0], f"the published summaries have no file for {name} ({many}): {known} have"
        )


def _not_listed(found: Plot, suffix: str) -> Iterator[PublishedFigure]:
    for engine, name in summaries.ENGINES.items():
        there = sum(each.name == engine for each in found.searches)
        searches = summaries.published(found, engine)
        groups = summaries.indexes(searches) if searches else ()
        listed = len({line for group in groups for line in summaries.listed(searches, group)})
        if listed != there:
            yield PublishedFigure(f"qr.{name}{suffix}", engine, "searches", str(listed), str(there), LISTED)


def _found_twice(found: Plot, suffix: str) -> Iterator[PublishedFigure]:
    for engine, name in summaries.ENGINES.items():
        searches = summaries.published(found, engine)
        for group in summaries.indexes(searches) if searches else ():
            legacy, clean = len(summaries.listed(searches, group)), sum(summaries.belongs(s, group) for s in searches)
            if legacy != clean:
                row = ", ".join(f"{parameter}={value}" for parameter, value in group.items())
                yield PublishedFigure(
                    f"qr.{name}{suffix}", row, "searches of the index", str(legacy), str(clean), PARTS
                )


IMPORTER: Importer[Records] = VectorSearch()
