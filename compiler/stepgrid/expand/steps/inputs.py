"""The files that a step's command reads: those that its words name, and those that it lists. Identity has what is in
them, the plan where they lie."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from stepgrid.expand.expression_scope import AlreadyReported
from stepgrid.expand.step_entry import StepEntry
from stepgrid.expand.steps.files import said
from stepgrid.expand.steps.resolved_step import Settings
from stepgrid.expand.steps.setup import Input
from stepgrid.language import file_roots, input_record
from stepgrid.language.file_checksum import checksum
from stepgrid.language.problems.problem import Problems
from stepgrid.language.problems.suggestion import nearest
from stepgrid.language.regular_file import holds_data
from stepgrid.language.spec_file import Document
from stepgrid.plugins.driver import InputFiles


class Inputs:
    """Each file is read once."""

    def __init__(self, document: Document, problems: Problems) -> None:
        self._spec, self._files, self._problems = document.path, frozenset(document.files), problems
        self._known: dict[str, str | None] = {}

    def of(self, kind: InputFiles, item: StepEntry, settings: Settings) -> Mapping[str, Input]:
        """By the names that the spec gives them; Reported, when one that is listed cannot be read."""
        found: dict[str, Input] = {}
        for word in kind.words(settings.values):
            path = self._path(word, item, settings)
            if (there := self._checksum(path, only_files=True)) is not None:
                found[word] = Input(path, there)
        for name in kind.listed(settings.values):
            found[name] = self._needed(name, item, settings)
        return found

    def _needed(self, name: str, item: StepEntry, settings: Settings) -> Input:
        path = self._path(name, item, settings)
        where, width = said(name, item, settings)
        if not file_roots.allowed(path, self._spec):  # a folder may be all of the disk
            self._problems.add("file-outside", where, file_roots.message(path), file_roots.HINT, width)
            raise AlreadyReported(name)
        if (there := self._checksum(path)) is not None:
            return Input(path, there)
        folder = Path(path).parent
        names = [entry.name for entry in sorted(folder.iterdir())] if folder.is_dir() else []
        hint = nearest(Path(path).name, names) if names else ""
        self._problems.add("file-not-found", where, f"there is no file `{path}`", hint, width)
        raise AlreadyReported(name)

    def _path(self, name: str, item: StepEntry, settings: Settings) -> str:
        """Meant from the file that names it, as patches are."""
        where, _ = said(name, item, settings)
        base = where.file if where.file in self._files else self._spec
        return os.path.normpath(Path(base).parent / name)

    def _checksum(self, path: str, only_files: bool = False) -> str | None:
        """None where there is nothing to read."""
        key = f"{path}{'' if only_files else '/'}"
        if key not in self._known:
            self._known[key] = _read(path, only_files)
        return self._known[key]


def _read(path: str, only_files: bool) -> str | None:
    try:
        if holds_data(path) or (os.path.isdir(path) and not only_files):  # noqa: PTH112 - an import less
            return checksum(path)
    except (OSError, ValueError):  # a name that no file can have
        pass
    if "\0" not in path:
        input_record.saw(path, None)
    return None
