"""The files that a step's command needs: their text is read while the spec is planned, jobs never read the spec."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from stepgrid.errors import StepgridError
from stepgrid.expand.expression_scope import AlreadyReported
from stepgrid.expand.step_entry import StepEntry
from stepgrid.expand.steps.resolved_step import Settings
from stepgrid.language import files, site
from stepgrid.language.problems import Location, Problems
from stepgrid.language.spec_file import Document
from stepgrid.language.yaml import width
from stepgrid.plugins.driver import StepFiles

LARGEST = 1 << 20  # bytes


class AttachedFiles:
    """Each of the spec's files is read once."""

    def __init__(self, document: Document, problems: Problems) -> None:
        self._spec, self._files, self._problems = document.path, frozenset(document.files), problems
        self._known: dict[Path, str] = {}

    def of(self, kind: StepFiles, item: StepEntry, settings: Settings) -> Mapping[str, str]:
        """Name in the step's folder -> text; Reported, when one of them cannot be had."""
        return kind.files(settings.values, self._reader(item, settings))

    def _reader(self, item: StepEntry, settings: Settings) -> Callable[[str], str]:
        def own(name: str) -> str:
            where, quoted = said(name, item, settings)
            # a file is meant from the one that names it, as patches are
            base = where.file if where.file in self._files else self._spec
            return self._text(Path(base).parent / name, where, quoted)

        return own

    def _text(self, path: Path, where: Location, quoted: int) -> str:
        try:
            if not site.may_read(str(path), self._spec):
                raise FileError("file-outside", site.outside_message(str(path)), site.OUTSIDE_HINT)
            return self._known.setdefault(path, self._known.get(path) or _read(path))
        except FileError as wrong:
            self._problems.add(wrong.code, where, str(wrong), wrong.hint, quoted)
            raise AlreadyReported(str(wrong)) from None


class FileError(StepgridError):
    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code, self.hint = code, hint


def _read(path: Path) -> str:
    content = _content(path)
    files.record_file(str(path), content)
    if len(content) > LARGEST:
        raise FileError("too-large", f"the file `{path}` is larger than 1 MiB", "its text is part of every plan")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        byte = f"byte 0x{content[error.start]:02x}"
        raise FileError("not-utf8", f"`{path}` is not UTF-8 text: {byte}", "save the file as UTF-8") from None


def _content(path: Path) -> bytes:
    """No more of it than tells that it is too large."""
    try:
        if not path.is_file():  # what is no plain file may wait for its writer
            raise FileError("file-not-found", f"there is no file `{path}`")
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except OSError as error:
        raise FileError("file-not-found", f"`{path}` cannot be read: {error.strerror}") from None


def said(name: str, item: StepEntry, settings: Settings) -> tuple[Location, int]:
    """Where the setting stands that names a file."""
    for setting, at in settings.values.at.items():
        if name in _texts(settings.values.get(setting)):
            return Location.read(at), width(name)
    return item.where, width(item.base)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
