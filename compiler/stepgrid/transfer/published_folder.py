"""A folder of published results, read whole or not at all; what is not understood is left out only if one says so."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stepgrid.model.units import counted
from stepgrid.plugins.importer import Faults, FolderError, ImportedStep, ImportProblem, PublishedFigure, sort_problems
from stepgrid.plugins.registry import IMPORTERS
from stepgrid.transfer.published_plan import PublishedPlan, planned, several

SHOWN = 5  # files of a folder that are named


@dataclass(frozen=True, slots=True)
class PublishedFolder:
    planned: PublishedPlan
    legacy: Mapping[str, str]
    beside: Sequence[PublishedFigure]
    left_out: Sequence[ImportProblem] = ()
    unsummarized: Sequence[ImportProblem] = ()  # is in the results, and in no published summary
    aside: Sequence[Path] = ()  # files that are made of those that were read
    cut: Sequence[Path] = ()  # files whose last line is half a line
    refused: Sequence[ImportProblem] = ()  # of files that are wrong, where the others were imported


def read(name: str, folder: Path, skip_unknown: bool = False) -> PublishedFolder:
    """Wrong says everything that keeps it from being read."""
    faults = Faults()
    each = IMPORTERS.get(name)
    _check_links(folder)
    try:
        records = each.read(folder, faults)
    except (ValueError, ArithmeticError, RecursionError) as error:  # a number of too many digits, say
        problem = ImportProblem(folder, None, f"a file in it cannot be read: {str(error).partition(':')[0]}")
        raise FolderError([*faults, problem]) from None
    faults.stop()
    measured = [_readable(step) for step in each.measured(records)]
    _check(name, folder, measured, faults)
    unread = [path for path in sorted(path for path in folder.rglob("*") if path.is_file()) if path not in faults.read]
    aside = [path for path in unread if each.aside(path.name.removesuffix(".gz"))]
    unknown = [*faults.unknown, *_unknown(folder, [path for path in unread if path not in aside])]
    if unknown and not skip_unknown:
        raise FolderError([*unknown, *faults.refused], unknown=True)
    left_out = sort_problems([*unknown, *faults.left_out, *_cut(folder, faults.cut)])
    refused = sort_problems(faults.refused)
    told = [*(f"refused: {each.sentence}" for each in refused), *(f"left out: {each.sentence}" for each in left_out)]
    found = _planned(name, folder, measured, told)
    legacy, beside = each.legacy(records), each.differences(records)
    return PublishedFolder(found, legacy, beside, left_out, each.unsummarized(records), aside, faults.cut, refused)


def _check_links(folder: Path) -> None:
    """What is imported is copied, and shown: nothing that lies outside of the folder."""
    root = os.path.realpath(folder)
    links = [path for path in folder.rglob("*") if path.is_symlink()]
    outside = [path for path in links if os.path.commonpath((root, os.path.realpath(path))) != root]
    said = "is a link out of the folder: replace it by a copy of what it leads to"
    if outside:
        raise FolderError([ImportProblem(path, None, said) for path in sorted(outside)])


def _readable(step: ImportedStep) -> ImportedStep:
    """A byte that is no UTF-8 is a surrogate in `legacy`, which has the bytes of the files; no result can hold it."""
    labels, variables = ({name: _text(text) for name, text in each.items()} for each in (step.labels, step.variables))
    facts = {name: _text(text) for name, text in step.figures.facts.items()}
    figures = replace(step.figures, facts=facts)
    build, name, version = map(_text, (step.build, step.step, step.version))
    return replace(step, build=build, step=name, version=version, labels=labels, variables=variables, figures=figures)


def _text(text: str) -> str:
    return text.encode("utf-8", errors="surrogateescape").decode("utf-8", errors="replace")


def _check(name: str, folder: Path, measured: Sequence[ImportedStep], faults: Faults) -> None:
    if not measured and faults.refused:
        raise FolderError(faults.refused)
    if not measured:
        faults.add(folder, None, f"there are no {name} results in it{_others(name, folder)}")
    for twice in several(measured):
        faults.add(folder, None, f"two results of {twice} in it: one may not stand for both")
    if list(faults):
        raise FolderError([*faults, *faults.refused])


def _planned(name: str, folder: Path, measured: Sequence[ImportedStep], warnings: Sequence[str]) -> PublishedPlan:
    whole = folder.resolve()
    return planned(name, f"{name} results of {whole.parent.name}/{whole.name}", str(folder), measured, warnings)


def _unknown(folder: Path, files: Sequence[Path]) -> Iterator[ImportProblem]:
    """By folder."""
    for parent in dict.fromkeys(path.parent for path in files):
        there = [path for path in files if path.parent == parent]
        count = "1 file is" if len(there) == 1 else f"{len(there):,} files are"
        yield ImportProblem(parent, None, f"{count} not understood: {named(there)}")


def _cut(folder: Path, files: Sequence[Path]) -> Iterator[ImportProblem]:
    """What a program printed that was killed ends in half a line."""
    if files:
        said = f"half a line at the end of {counted(len(files), 'file')} is not read: {named(files)}"
        yield ImportProblem(folder, None, said)


def named(files: Sequence[Path]) -> str:
    more = f" and {len(files) - SHOWN:,} more" if len(files) > SHOWN else ""
    return f"{', '.join(path.name for path in files[:SHOWN])}{more}"


def _others(but: str, folder: Path) -> str:
    """The kinds whose results are there."""
    there = [name for name in IMPORTERS.names() if name != but and _holds(name, folder)]
    return f"; there are those of {' and '.join(there)}" if there else _below(but, folder)


def _below(name: str, folder: Path) -> str:
    """The first folder in it that has some."""
    inside = sorted(path for path in folder.iterdir() if path.is_dir())
    first = next((path for path in inside if _holds(name, path)), None)
    return f"; {first.name} in it has some: import its folders one by one" if first else ""


def _holds(name: str, folder: Path) -> bool:
    faults = Faults()
    try:
        each = IMPORTERS.get(name)
        return bool(each.measured(each.read(folder, faults))) and not list(faults)
    except FolderError:
        return False


# The published summary files in a folder, and beside them a table of the figures that we have otherwise.

BESIDE = "legacy-and-clean.tsv"
_HEADS = ("file", "row", "figure", "legacy", "clean", "why")


def write(folder: Path, files: Mapping[str, str], beside: Sequence[PublishedFigure]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
    if beside:
        rows = [_HEADS, *((e.file, e.row, e.figure, e.legacy, e.clean, e.why) for e in beside)]
        (folder / BESIDE).write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
