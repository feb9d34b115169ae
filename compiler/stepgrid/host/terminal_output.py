"""The writer of all that is printed: control characters of programs, bundles and names are shown, not sent.

A terminal obeys them: they move its cursor, set its title, fill its clipboard. They appear as in JSON, `\\u001b`."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

# besides the control characters of ASCII and Latin-1: line ends of Unicode, what turns the direction of a line, and
# halves of characters, which no terminal gets to see
_HIDDEN = re.compile(
    "(\x1b\\[(?:0|1|2|31|32|33)m)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def visible(text: str) -> str:
    """Escape control characters, except line breaks, tabs and the colours that we use."""
    return _HIDDEN.sub(lambda match: match[1] or f"\\u{ord(match[0]):04x}", text)


_NAMES = ("standard input", "standard output", "standard error")


def open_streams() -> None:
    """Give streams that the caller closed (`<&-`, `>&-`) to /dev/null: else the next file that is opened is one."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # takes the lowest free number
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


class FullStream(Exception):
    """Standard output or standard error takes no more; from here on it leads to /dev/null."""

    def __init__(self, stream: TextIO, error: OSError) -> None:
        number = stream.fileno()
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        super().__init__(f"{_NAMES[number]} cannot be written: {error.strerror}")


class Screen:
    """A stream of text that shows control characters; all else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self.raw = stream

    def write(self, text: str) -> int:
        try:
            return self.raw.write(visible(text))
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FullStream(self.raw, error) from None

    def flush(self) -> None:
        try:
            self.raw.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FullStream(self.raw, error) from None

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def raw(stream: TextIO) -> TextIO:
    """Return the stream itself, for who moves the cursor and makes `visible` what comes from elsewhere."""
    return cast(TextIO, getattr(stream, "raw", None) if isinstance(stream, Screen) else stream)


@contextmanager
def screened() -> Iterator[None]:
    """Screen all that is printed meanwhile. Streams that somebody put in their place meanwhile stay."""
    before = sys.stdout, sys.stderr
    screens = [cast(TextIO, stream if isinstance(stream, Screen) else Screen(stream)) for stream in before]
    sys.stdout, sys.stderr = screens
    try:
        yield
    finally:
        sys.stdout = before[0] if sys.stdout is screens[0] else sys.stdout
        sys.stderr = before[1] if sys.stderr is screens[1] else sys.stderr


# Lines of a page

WIDTH = 120
INDENT = "  "


def cut(line: str, width: int) -> str:
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def wrap(sentence: str, first: str = INDENT, following: str | None = None, width: int = WIDTH) -> list[str]:
    """Wrap a sentence; a name or path is not broken, but a list without spaces that is wider than a line is."""
    indent = first if following is None else following
    lines = textwrap.wrap(
        sentence,
        width,
        initial_indent=first,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return [part for line in lines for part in ([line] if len(line) <= width else _break_list(line, indent, width))]


def _break_list(line: str, indent: str, width: int) -> Iterator[str]:
    """Break an option's value such as `a=1;b=2` after separators, as far right as there is room."""
    part = ""
    for item in re.findall(r"[^;,]*[;,]+|[^;,]+", line):
        if part and len(part + item) > width:
            yield part
            part = indent
        part += item
    yield part
