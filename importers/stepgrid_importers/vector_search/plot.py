"""o.plot: what ann-benchmarks prints of each index and search: its name with parameters, recall and QPS."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stepgrid.plugins.importer import Faults

NAME = "o.plot"
KNN = "Computing knn metrics"

_LINE = re.compile(r"^ *(?P<name>\w+)\((?P<params>\w+=[^()]*)\) +(?P<recall>\S+) +(?P<qps>\S+) *$")
_EXPECTED = "NAME(PARAMETER=VALUE, …), recall and QPS were expected"
_DATASET = re.compile(r"^writing output to .*?(?P<name>[^/]+)\.\w+$")


@dataclass(frozen=True, slots=True)
class Search:
    name: str  # of the engine, or of its way to keep vectors
    params: Mapping[str, str]
    text: str  # NAME(params), as it stands
    recall: str
    qps: str
    line: int


@dataclass(frozen=True, slots=True)
class Plot:
    path: Path
    dataset: str | None
    searches: Sequence[Search]

    @property
    def suffix(self) -> str:
        """o.plot.def -> .def"""
        return self.path.name.removesuffix(".gz").removeprefix(NAME)


def read(text: str, path: Path, faults: Faults) -> Plot:
    dataset: str | None = None
    searches: dict[str, Search] = {}
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    before = ""
    for number, line in lines:
        if match := _DATASET.match(line):
            dataset = match["name"]
        elif found := _LINE.match(line):
            _add(searches, found, number, path, faults)
        elif before.startswith(KNN):
            faults.add_unknown(path, number, f"after `{KNN}`, {_EXPECTED}", line)
        elif not line.startswith(KNN):
            faults.add_unknown(path, number, _EXPECTED, line)
        before = line
    if before.startswith(KNN):
        faults.add_unknown(path, lines[-1][0], f"after `{KNN}`, {_EXPECTED}")
    if not searches:
        faults.add(path, None, "it holds no search: NAME(PARAMETER=VALUE, …) with recall and QPS was expected")
    return Plot(path, dataset, list(searches.values()))


def _add(searches: dict[str, Search], found: re.Match[str], number: int, path: Path, faults: Faults) -> None:
    text = f"{found['name']}({found['params']})"
    if any(not _is_number(found[name]) for name in ("recall", "qps")):
        faults.add(path, number, f"recall and QPS of {text} were expected: two numbers", found[0])
    elif text in searches:
        faults.add(path, number, f"{text} is here again, after line {searches[text].line}", found[0])
    else:
        params = dict(pair.strip().split("=", 1) for pair in found["params"].split(","))
        searches[text] = Search(found["name"], params, text, found["recall"], found["qps"], number)


def _is_number(text: str) -> bool:
    try:
        return float(text) >= 0
    except ValueError:
        return False
