"""A file that people already have: packed or not, with the line ends of another system, cut off anywhere."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import NamedTuple

from stepgrid.plugins.driver import ParseError

CUT = "the file ends in the middle of a line, which is left out"


class Given(NamedTuple):
    """Whole lines: half of one can end in half a number."""

    text: str
    warnings: tuple[str, ...] = ()


def read(path: Path) -> Given:
    """What is not text is none."""
    text = _content(path).decode("utf-8", errors="replace").replace("\r\n", "\n")
    whole = text.rfind("\n") + 1
    return Given(text[:whole], (CUT,) if text[whole:].strip() else ())


def _content(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except FileNotFoundError:
        raise ParseError(f"there is no file {path}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise ParseError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
