"""The plots of a folder and of those in it, without one that shows the results of others again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from stepgrid.model.units import counted
from stepgrid.plugins.importer import Faults
from stepgrid_importers.shared import text_files
from stepgrid_importers.vector_search import engines, plot
from stepgrid_importers.vector_search.plot import Plot, Search

PUBLISHED = "qr."

_SCALE = re.compile(r"(?:^|\.)[xy]?log(?:$|\.)")  # of an axis: `o.plot.xlog` is `o.plot` drawn once more


def read(folder: Path, faults: Faults) -> list[Plot]:
    files = sorted(path for path in folder.rglob(f"{plot.NAME}*") if path.is_file())
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
            yield _checked(plot.told_apart(each, faults), faults)


def _read(path: Path, faults: Faults) -> Plot | None:
    content = text_files.read(path, faults)
    if content is None:
        return None
    beside = (each for each in sorted(path.parent.iterdir()) if each.is_file() and each.name.startswith(PUBLISHED))
    published = {text_files.plain(each.name): text_files.read(each, Faults()) or "" for each in beside}
    return replace(plot.read(text_files.readable(content), path, faults), published=published)


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


def _checked(found: Plot, faults: Faults) -> Plot:
    for search in found.searches:
        _check(found.path, search, faults)
    return found


def _check(path: Path, search: Search, faults: Faults) -> None:
    """Of the engines that there are summaries of: all figures of theirs are by these."""
    engine = engines.of(search)
    needed = engine.numbers() if engine else ()
    if engine and not engine.index and "ef_construction" in search.params:
        needed = (*needed, "ef_construction")
    for name in needed:
        if not search.params.get(name, "").isdecimal():
            faults.add(path, search.line, f"{search.text} says no {name}=NUMBER")
