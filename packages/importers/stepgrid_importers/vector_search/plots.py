"""The plots of a folder: what ann-benchmarks prints of each index and search, its parameters, recall and QPS."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from stepgrid.model.records import replace
from stepgrid.model.units import counted
from stepgrid_importers.shared import text_files
from stepgrid_published.importer import Faults

PUBLISHED = "qr."

_SCALE = re.compile(r"(?:^|\.)[xy]?log(?:$|\.)")  # of an axis: `o.plot.xlog` is `o.plot` drawn once more


def read(folder: Path, faults: Faults) -> list[Plot]:
    files = sorted(path for path in folder.rglob(f"{NAME}*") if path.is_file())
    return [
        found
        for parent in dict.fromkeys(path.parent for path in files)
        for found in _of_folder([path for path in files if path.parent == parent], faults)
    ]


def _of_folder(paths: Sequence[Path], faults: Faults) -> Iterator[Plot]:
    found = [each for path in paths if (each := _read(path, faults)) is not None]
    for each in found:
        if (others := _shown_by(each, found)) and each.searches:
            files = ", ".join(other.path.name for other in others)
            said = f"it shows {counted(len(each.searches), 'result')} of {files} again: counted once"
            faults.add_left_out(each.path, None, said)
        else:
            told = told_apart(each, faults)
            for search in told.searches:
                _check(told.path, search, faults)
            yield told


def _read(path: Path, faults: Faults) -> Plot | None:
    content = text_files.read(path, faults)
    if content is None:
        return None
    beside = (each for each in sorted(path.parent.iterdir()) if each.is_file() and each.name.startswith(PUBLISHED))
    published = {text_files.plain(each.name): text_files.read(each, Faults()) or "" for each in beside}
    return replace(parse(text_files.readable(content), path, faults), published=published)


def _shown_by(one: Plot, plots: Sequence[Plot]) -> list[Plot]:
    """Others that have all of its results: a larger one, or those that it draws on another scale."""
    others = [each for each in plots if each is not one and not _SCALE.search(each.suffix)]
    scaled = _SCALE.search(one.suffix) is not None
    whole = (each for each in others if _results(one) <= _results(each))
    if first := next((each for each in whole if scaled or _results(each) > _results(one)), None):
        return [first]
    sharing = [each for each in others if _results(one) & _results(each)] if scaled else []
    return sharing if _results(one) <= {result for each in sharing for result in _results(each)} else []


def _results(found: Plot) -> set[tuple[str, str, str]]:
    return {(search.text, search.recall, search.qps) for search in found.searches}


def _check(path: Path, search: Search, faults: Faults) -> None:
    """Of the engines that there are summaries of: all figures of theirs are by these."""
    engine = engine_of(search)
    needed = engine.numbers() if engine else ()
    if engine and not engine.index and "ef_construction" in search.params:
        needed = (*needed, "ef_construction")
    for name in needed:
        if not search.params.get(name, "").isdecimal():
            faults.add(path, search.line, f"{search.text} says no {name}=NUMBER")


# o.plot

NAME = "o.plot"
KNN = "Computing knn metrics"
CACHED = "Found cached result"  # said instead, where the metrics were computed before

_LINE = re.compile(r"^ *(?P<name>\w[\w.+-]*)\(\(?(?P<params>\w+ *=[^()]*)\) +(?P<recall>\S+) +(?P<qps>\S+) *$")
_EXPECTED = "NAME(PARAMETER=VALUE, …), recall and QPS were expected"
_DATASET = re.compile(r"^writing output to (?:.*/)?(?P<name>[^/]+)\.\w+$")
_NOT_UNDERSTOOD = re.compile(
    r"^ *(?:\d+: +)?(?P<name>[^\s({]++)(?:\(+\w+ *=.*|.*\s[01](?:\.\d+)? +\d+(?:\.\d+)? *)$"
)  # has a recall
_WHOLE = re.compile(r".*\.\d{3}")  # plots print three decimals: a last line without its end may have lost some


class Search(Struct, frozen=True):
    name: str  # of the engine, or of its way to keep vectors
    params: Mapping[str, str]
    text: str  # NAME(params), as it stands
    recall: str
    qps: str
    line: int
    occurrence: int = 0  # from 1, where a plot has several results of one name


class Plot(Struct, frozen=True):
    path: Path
    dataset: str | None
    searches: Sequence[Search]
    published: Mapping[str, str] = {}  # qr files that lie beside: name -> content

    @property
    def suffix(self) -> str:
        """o.plot.def -> .def"""
        return self.path.name.removesuffix(".gz").removeprefix(NAME)


class _Reader(Struct):
    path: Path
    faults: Faults
    dataset: str | None = None
    searches: list[Search] = []
    lost: dict[str, list[tuple[int, str]]] = {}  # engine -> lines with a recall
    announced: bool = False  # whether the line before says that a search comes

    def line(self, number: int, line: str) -> None:
        if match := _DATASET.match(line):
            self.dataset = match["name"]
        elif found := _LINE.match(line):
            self._search(found, number)
        elif lost := _NOT_UNDERSTOOD.match(line):
            self.lost.setdefault(lost["name"], []).append((number, line))
        elif not line.startswith((KNN, CACHED)):
            after = f"after `{KNN}`, " if self.announced else ""
            self.faults.add_unknown(self.path, number, after + _EXPECTED, line)
        self.announced = line.startswith(KNN)

    def _search(self, found: re.Match[str], number: int) -> None:
        text = found[0][: found.end("params") + 1].strip()
        if any(not _is_number(found[name]) for name in ("recall", "qps")):
            self.faults.add(self.path, number, f"recall and QPS of {text} were expected: two numbers", found[0])
        else:
            params = dict(_pair(each) for each in found["params"].split(","))
            self.searches.append(Search(found["name"], params, text, found["recall"], found["qps"], number))

    def end(self, last: int) -> None:
        if self.announced:
            self.faults.add_unknown(self.path, last, f"after `{KNN}`, {_EXPECTED}")
        for alike in self.lost.values():
            more = f"; {len(alike):,} such lines, this is the first" if len(alike) > 1 else ""
            self.faults.add(self.path, alike[0][0], f"{_EXPECTED}{more}", alike[0][1])
        if not (self.searches or self.lost):
            said = "it holds no search: NAME(PARAMETER=VALUE, …) with recall and QPS was expected"
            self.faults.add(self.path, None, said)


def parse(text: str, path: Path, faults: Faults) -> Plot:
    reader = _Reader(path, faults)
    lines = [(number, line) for number, line in enumerate(_lines(text, path, faults), 1) if line.strip()]
    for number, line in lines:
        reader.line(number, line)
    reader.end(lines[-1][0] if lines else 0)
    return Plot(path, reader.dataset, reader.searches)


def told_apart(plot: Plot, faults: Faults) -> Plot:
    """Results of one name are counted, as the name leaves out what differs; one with the same figures is a fault."""
    alike: dict[str, list[Search]] = {}
    for search in plot.searches:
        others = alike.setdefault(search.text, [])
        if copy := next((each for each in others if (each.recall, each.qps) == (search.recall, search.qps)), None):
            said = f"{search.text} is here again, after line {copy.line}"
            faults.add(plot.path, search.line, said, f" {search.text}  {search.recall}  {search.qps}")
        others.append(search)
    searches = [
        replace(search, occurrence=number if len(group) > 1 else 0)
        for group in alike.values()
        for number, search in enumerate(group, 1)
    ]
    return replace(plot, searches=sorted(searches, key=lambda search: search.line))


def _lines(text: str, path: Path, faults: Faults) -> list[str]:
    """Half a figure at the end of a file that was cut off is not read."""
    rest = text_files.unfinished(text)
    if rest and not _WHOLE.fullmatch(rest):
        faults.cut.append(path)
        return text_files.lines(text)
    return text_files.all_lines(text)


def _pair(text: str) -> tuple[str, str]:
    """`m= 4` is m=4."""
    name, _, value = text.partition("=")
    return name.strip(), value.strip()


def _is_number(text: str) -> bool:
    try:
        return float(text) >= 0
    except ValueError:
        return False


# The engines that published summaries have a file for, and how the scripts find an engine's searches in a plot

Group = Mapping[str, str]  # parameter -> value
FIXED = (4, 5, 6, 8, 12, 16, 24, 32, 48)  # m of the engine without ef_construction: another one is not listed


class Engine(Struct, frozen=True):
    name: str  # in a plot
    file: str  # qr.FILE
    index: tuple[str, ...] = ("ef_construction", "m")  # what indexes were made with; none: a fixed list of m
    searched: str = "ef_search"
    after: str = ")"  # what ends the number that the scripts look for: without it, 20 also finds 200
    only: Group = {}

    def has(self, search: Search) -> bool:
        return search.name == self.name and self.only.items() <= search.params.items()

    def numbers(self) -> tuple[str, ...]:
        """Parameters that each of its searches needs."""
        return (*sorted(self.index, reverse=True), self.searched) if self.index else ("m", self.searched)


_QDRANT = ("ef_construct", "m")

ENGINES = (
    Engine("PGVector", "pgvector"),
    Engine("PGVector_halfvec", "pgvector_halfvec"),
    Engine("MariaDB", "maria", ()),
    Engine("Qdrant", "qdrant.none", _QDRANT, "hnsw_ef", "", {"quantization": "none"}),
    Engine("Qdrant", "qdrant.scalar", _QDRANT, "hnsw_ef", "", {"quantization": "scalar"}),
)
SEARCHED = {engine.searched for engine in ENGINES}


def engine_of(search: Search) -> Engine | None:
    return next((engine for engine in ENGINES if engine.has(search)), None)
