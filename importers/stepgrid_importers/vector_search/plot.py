"""o.plot: what ann-benchmarks prints of each index and search: its name with parameters, recall and QPS."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from stepgrid.plugins.importer import Faults
from stepgrid_importers.shared import text_files

NAME = "o.plot"
KNN = "Computing knn metrics"
CACHED = "Found cached result"  # said instead, where the metrics were computed before

_LINE = re.compile(r"^ *(?P<name>\w[\w.+-]*)\(\(?(?P<params>\w+ *=[^()]*)\) +(?P<recall>\S+) +(?P<qps>\S+) *$")
_EXPECTED = "NAME(PARAMETER=VALUE, …), recall and QPS were expected"
_DATASET = re.compile(r"^writing output to .*?(?P<name>[^/]+)\.\w+$")
_NOT_UNDERSTOOD = re.compile(
    r"^ *(?:\d+: +)?(?P<name>[^\s({]+)(?:\(+\w+ *=.*|.*\s[01](?:\.\d+)? +\d+(?:\.\d+)? *)$"
)  # has a recall
_WHOLE = re.compile(r".*\.\d{3}")  # plots print three decimals: a last line without its end may have lost some


@dataclass(frozen=True, slots=True)
class Search:
    name: str  # of the engine, or of its way to keep vectors
    params: Mapping[str, str]
    text: str  # NAME(params), as it stands
    recall: str
    qps: str
    line: int
    occurrence: int = 0  # from 1, where a plot has several results of one name


@dataclass(frozen=True, slots=True)
class Plot:
    path: Path
    dataset: str | None
    searches: Sequence[Search]
    published: Mapping[str, str] = field(default_factory=dict)  # qr files that lie beside: name -> content

    @property
    def suffix(self) -> str:
        """o.plot.def -> .def"""
        return self.path.name.removesuffix(".gz").removeprefix(NAME)


@dataclass(slots=True)
class _Reader:
    path: Path
    faults: Faults
    dataset: str | None = None
    searches: list[Search] = field(default_factory=list)
    lost: dict[str, list[tuple[int, str]]] = field(default_factory=dict)  # engine -> lines with a recall
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


def read(text: str, path: Path, faults: Faults) -> Plot:
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
    several = [replace(each, occurrence=at) for found in alike.values() for at, each in _counted(found)]
    return replace(plot, searches=sorted(several, key=lambda search: search.line))


def _counted(found: Sequence[Search]) -> Iterator[tuple[int, Search]]:
    return enumerate(found, 1) if len(found) > 1 else ((0, each) for each in found)


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
