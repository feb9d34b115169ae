"""What a command printed and wrote, read once for all of its metrics."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepgrid.model.figures import ParseError
from stepgrid.plugins import raw_output
from stepgrid.plugins.raw_output import RawOutputError, is_inside

PRINTED = ("stdout", "stderr")
_BEGINS = re.compile(r"^[ \t]*[{\[]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Outputs:
    folder: Path
    _texts: dict[str, str | None] = field(default_factory=dict)
    _documents: dict[str, Any] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """None: there is no such file."""
        if name not in self._texts:
            if not is_inside(self.folder, name):
                raise ParseError(f"{name} cannot be read: a link leads out of the step's folder")
            self._texts[name] = _read(self.folder / name)
        return self._texts[name]

    def document(self, name: str) -> Any:
        """The first JSON value that begins a line: programs like to say something before it. None: no such file."""
        if name not in self._documents:
            text = self.text(name)
            self._documents[name] = None if text is None else _document(name, text)
        return self._documents[name]


def _read(path: Path) -> str | None:
    try:
        return raw_output.read(path).decode("utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except RawOutputError as error:
        raise ParseError(f"{path.name} cannot be read: {error}") from None


def _document(name: str, text: str) -> Any:
    begins = _BEGINS.search(text)
    if begins is None:
        raise ParseError(f"{name} holds no JSON: no line begins with {{ or [")
    try:
        return json.JSONDecoder().raw_decode(text, begins.end() - 1)[0]
    except json.JSONDecodeError as error:
        raise ParseError(f"{name} is no JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise ParseError(f"{name} is no JSON: it is nested too deep") from None
    except ValueError:  # of Python itself: turning digits into a number takes quadratic time
        raise ParseError(f"{name} has a number of more than {sys.get_int_max_str_digits():,} digits") from None
