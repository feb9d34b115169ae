"""Results of ann-benchmarks: recall and QPS of each index and search, from its plots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stepgrid.model.figures import Figures
from stepgrid_importers.vector_search import plots, summaries
from stepgrid_importers.vector_search.plots import ENGINES, SEARCHED, Plot, Search
from stepgrid_published.importer import Faults, ImportedStep, Importer, ImportProblem, RecomputedFigure

STEP = "search"
PLOT, OCCURRENCE = "plot", "occurrence"  # axes, where there are several plots, or several results of one name
PARTS, LISTED = "m=4 finds m=48", "ef_search of a plot"
_PARAMETERS = ("m", "ef_construction", "ef_construct", *sorted(SEARCHED))


class Records(NamedTuple):
    folder: Path
    plots: Sequence[Plot]

    def label(self, found: Plot) -> str:
        """dop_8/o.plot.def -> dop_8/def"""
        place = found.path.parent.relative_to(self.folder)
        parts = [part for part in (*place.parts, found.suffix.lstrip(".")) if part]
        return "/".join(parts) or plots.NAME

    def suffix(self, found: Plot) -> str:
        """Of the summary files: that of the plot, where there are several in its folder, or published ones have it."""
        several = sum(each.path.parent == found.path.parent for each in self.plots) > 1
        files = [f"{plots.PUBLISHED}{engine.file}" for engine in ENGINES]
        has = any(f"{file}{found.suffix}" in found.published for file in files)
        return found.suffix if several or (has and not any(file in found.published for file in files)) else ""


class VectorSearch:
    kind = "vector_search"

    def read(self, folder: Path, faults: Faults) -> Records:
        return Records(folder, plots.read(folder, faults))

    def measured(self, records: Records) -> Sequence[ImportedStep]:
        return [_measured(records, each, search) for each in records.plots for search in _in_order(each)]

    def legacy(self, records: Records) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for place in dict.fromkeys(each.path.parent for each in records.plots):
            here = [each for each in records.plots if each.path.parent == place]
            files = summaries.summaries(here, [records.suffix(each) for each in here])
            found |= {str(place.relative_to(records.folder) / name): text for name, text in files.items()}
        return found

    def differences(self, records: Records) -> Sequence[RecomputedFigure]:
        named = [(each, records.suffix(each)) for each in records.plots]
        return [line for rule in (_found_twice, _not_listed) for each in named for line in rule(*each)]

    def unsummarized(self, records: Records) -> Sequence[ImportProblem]:
        return [each for found in records.plots for each in _without_summary(found)]

    def aside(self, name: str) -> bool:
        return name.startswith(plots.PUBLISHED)


def _in_order(found: Plot) -> list[Search]:
    """By engine as the plot has them, then by what the index was made with, and how it was searched."""
    names = list(dict.fromkeys(search.name for search in found.searches))

    def rank(search: Search) -> tuple[int, ...]:
        texts = (search.params.get(name, "") for name in _PARAMETERS)
        return names.index(search.name), *(int(text) if text.isdecimal() else 0 for text in texts)

    return sorted(found.searches, key=rank)


def _measured(records: Records, found: Plot, search: Search) -> ImportedStep:
    facts = {"dataset": found.dataset} if found.dataset else {}
    several = {PLOT: records.label(found)} if len(records.plots) > 1 else {}
    built = {name: value for name, value in search.params.items() if name not in SEARCHED}
    again = {OCCURRENCE: str(search.occurrence)} if search.occurrence else {}
    return ImportedStep(
        build=search.name,
        step=STEP,
        figures=Figures({"recall": float(search.recall), "qps": float(search.qps)}, facts),
        labels={**several, **built, **again},
        variables={name: value for name, value in search.params.items() if name in SEARCHED},
        source=f"{found.path.relative_to(records.folder)}:{search.line}",
    )


def _without_summary(found: Plot) -> Iterator[ImportProblem]:
    names = list(dict.fromkeys(engine.name for engine in ENGINES))
    known = f"{', '.join(names[:-1])} and {names[-1]}"
    unknown = [each for each in found.searches if plots.engine_of(each) is None]
    for name in dict.fromkeys(each.name for each in unknown):
        lines = [each.line for each in unknown if each.name == name]
        many = f"{len(lines)} search{'' if len(lines) == 1 else 'es'}"
        yield ImportProblem(
            found.path, lines[0], f"the published summaries have no file for {name} ({many}): {known} have"
        )


def _not_listed(found: Plot, suffix: str) -> Iterator[RecomputedFigure]:
    for engine in ENGINES:
        there = sum(map(engine.has, found.searches))
        listed = len({line for _, lines in summaries.groups(found, engine, suffix) for line in lines})
        if listed != there:
            name = f"qr.{engine.file}{suffix}"
            yield RecomputedFigure(name, engine.name, "searches", str(listed), str(there), LISTED)


def _found_twice(found: Plot, suffix: str) -> Iterator[RecomputedFigure]:
    for engine in ENGINES:
        searches = summaries.published(found, engine, suffix)
        for group, lines in summaries.groups(found, engine, suffix):
            clean = sum(summaries.belongs(search, group) for search in searches)
            if lines and len(lines) != clean:
                row = ", ".join(f"{parameter}={value}" for parameter, value in group.items())
                name = f"qr.{engine.file}{suffix}"
                yield RecomputedFigure(name, row, "searches of the index", str(len(lines)), str(clean), PARTS)


IMPORTER: Importer[Records] = VectorSearch()
