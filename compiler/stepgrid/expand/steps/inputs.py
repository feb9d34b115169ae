"""The files that a step's command reads: those that its words name, and those that it lists. Identity has what is in
them, the plan where they lie."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepgrid.expand.expression_scope import AlreadyReported
from stepgrid.expand.step_entry import StepEntry
from stepgrid.expand.steps.files import said
from stepgrid.expand.steps.resolved_step import Settings
from stepgrid.expand.steps.setup import Input
from stepgrid.language import files, site
from stepgrid.language.files import checksum, holds_data
from stepgrid.language.problems import Problems, nearest
from stepgrid.language.spec_file import Document
from stepgrid.model.plan import SERVICE, Json
from stepgrid.plugins.driver import InputFiles, Placeholders, find_on_path, possible_file_names


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

    def named(
        self, kind: InputFiles, item: StepEntry, settings: Settings, inputs: Mapping[str, Input]
    ) -> Mapping[str, Input]:
        """Programs of PATH, files that are named in any other way, and what links in listed folders lead to."""
        entries: dict[str, Input] = {}
        for setting in kind.placeholders(()) if isinstance(kind, Placeholders) else ():
            words = settings.values.get(setting)
            if isinstance(words, list):
                entries |= self._of_words([str(word) for word in words], lambda name: self._path(name, item, settings))
        for name in (*kind.listed(settings.values), *entries):
            path = self._path(name, item, settings)
            if os.path.isdir(path):  # noqa: PTH112 - an import less
                entries |= self._behind_links(name, path)
        return {name: entry for name, entry in entries.items() if name not in inputs}

    def around(self, setup: Mapping[str, Json]) -> Mapping[str, Input]:
        """Files that `launch.env`, a service, probes and collectors name."""
        launch, service = setup.get("launch"), setup.get(SERVICE)
        parts = [part for part in (launch, service) if isinstance(part, dict)]
        forms = [form for part in parts for key in ("ready", "stop") if isinstance(form := part.get(key), dict)]
        lists = [table for key in ("before", "after", "collectors") if isinstance(table := setup.get(key), list)]
        holders = [*parts, *forms, *(entry for table in lists for entry in table if isinstance(entry, dict))]
        entries: dict[str, Input] = {}
        for holder in holders:
            for key in ("argv", "command"):
                if isinstance(words := holder.get(key), list):
                    entries |= self._of_words([str(word) for word in words], self._from_spec)
            if isinstance(variables := holder.get("env"), dict):
                entries |= self._of_words(["", *map(str, variables.values())], self._from_spec)
        return entries

    def libraries(self, source: Mapping[str, Any]) -> Mapping[str, Input]:
        """Shared libraries of a system's program, which an upgrade replaces below it."""
        name = str(source.get("system", ""))
        program = name if "/" in name else find_on_path(name)
        pairs = files.shared_libraries(program).items() if program else ()
        return {
            library: Input(path, digest)
            for library, path in pairs
            if (digest := self._checksum(path, only_files=True)) is not None
        }

    def _of_words(self, words: Sequence[str], resolve: Callable[[str], str]) -> dict[str, Input]:
        """Folders only by a path below the spec's, which holds the results, too: `data` is a plain word."""
        root = os.path.realpath(os.path.dirname(self._spec) or ".").rstrip("/")  # noqa: PTH120 - an import less
        entries: dict[str, Input] = {}
        program = find_on_path(words[0]) if words else None
        if program and (digest := self._checksum(program, only_files=True)) is not None:
            files.record_program(words[0], digest)
            entries[words[0]] = Input(program, digest)
        for name in possible_file_names(words):
            path = resolve(name)
            folder = "/" in name and not name.startswith("/") and os.path.realpath(path).startswith(f"{root}/")
            if (digest := self._checksum(path, only_files=not folder)) is not None:
                entries[name] = Input(path, digest)
        return entries

    def _behind_links(self, name: str, folder: str) -> Mapping[str, Input]:
        """A folder's checksum has where links lead, not what is there."""
        entries: dict[str, Input] = {}
        for link in files.tree_links(Path(folder)):
            target = os.path.realpath(os.path.join(folder, link))  # noqa: PTH118 - an import less
            inside = site.may_read(target, self._spec)
            if (digest := self._checksum(target, only_files=not inside)) is not None:
                entries[f"{name.rstrip('/')}/{link}"] = Input(target, digest)
        return entries

    def _from_spec(self, name: str) -> str:
        return os.path.normpath(Path(self._spec).parent / name)

    def _needed(self, name: str, item: StepEntry, settings: Settings) -> Input:
        path = self._path(name, item, settings)
        where, width = said(name, item, settings)
        if not site.may_read(path, self._spec):  # a folder may be all of the disk
            self._problems.add("file-outside", where, site.outside_message(path), site.OUTSIDE_HINT, width)
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
        files.record_file(path, None)
    return None
