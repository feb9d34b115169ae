"""The writer of all that is printed: control characters of programs, bundles and names are shown, not sent.

A terminal obeys them: they move its cursor, set its title, fill its clipboard. They appear as in JSON, `\\u001b`."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TextIO, cast

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
    """A stream of text that shows control characters; all else is the stream's own.

    What ends in the middle of a line waits for its end: two processes that write at once keep their lines whole."""

    def __init__(self, stream: TextIO) -> None:
        self.raw, self._partial = stream, ""
        self._is_plain_terminal = stream is sys.stderr and stream.isatty() and not is_terminal(stream)

    def write(self, text: str) -> int:
        self._partial += text
        if text.endswith("\n"):
            self._write_partial()
        return len(text)

    def _write_partial(self) -> None:
        text, self._partial = self._partial, ""
        if self._is_plain_terminal:  # it breaks a long line in the middle of a word
            text = "\n".join(fold(text, text_width(self.raw, sys.maxsize) - 1))
        try:
            self.raw.write(visible(text))
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FullStream(self.raw, error) from None

    def flush(self) -> None:
        if self._partial:
            self._write_partial()
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


@contextmanager
def screened() -> Iterator[None]:
    """Screen all that is printed meanwhile. Streams that somebody put in their place meanwhile stay."""
    before = sys.stdout, sys.stderr
    screens = [cast(TextIO, stream if isinstance(stream, Screen) else Screen(stream)) for stream in before]
    sys.stdout, sys.stderr = screens
    try:
        yield
    finally:
        for screen in screens:
            with suppress(OSError, ValueError, FullStream):
                screen.flush()
        sys.stdout = before[0] if sys.stdout is screens[0] else sys.stdout
        sys.stderr = before[1] if sys.stderr is screens[1] else sys.stderr


# Lines of a page

WIDTH = 120
NARROWEST = 20  # columns: a narrower terminal breaks lines
INDENT = "  "
_STYLE = re.compile(r"\x1b\[\d+m")


def is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def terminal_size(descriptor: int) -> tuple[int, int]:
    """Return the present columns and lines of a terminal."""
    try:
        terminal = os.get_terminal_size(descriptor)
    except (OSError, ValueError):
        return 80, 24
    return terminal.columns or 80, terminal.lines or 24


def text_width(stream: TextIO, most: int) -> int:
    """Return the columns of a terminal, at most so many; that number for what is no terminal."""
    if not stream.isatty():
        return most
    return max(min(terminal_size(stream.fileno())[0], most), NARROWEST)


_STYLES = {"bold": 1, "dim": 2, "red": 31, "green": 32, "yellow": 33}


class Paint(NamedTuple):
    """Colours, at a terminal unless NO_COLOR is set."""

    is_coloured: bool = False

    @classmethod
    def for_stream(cls, stream: TextIO) -> Paint:
        return cls(is_terminal(stream) and not os.environ.get("NO_COLOR"))

    def __call__(self, text: str, style: str | None) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.is_coloured and style and text else text


def plain(text: str) -> str:
    """Remove colours."""
    return _STYLE.sub("", text)


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


_EXCERPT = re.compile(r" *\d+ \| ")  # a line of a spec, with its number


def fold(text: str, width: int) -> list[str]:
    """Wrap each line of a message that is too long for a terminal, with the line's indent; a long path stays whole."""
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip(" |="))]
        folded = [line]
        if len(line) > width:
            is_excerpt = _EXCERPT.match(line)
            further = f"{indent.replace('=', ' ')}{'' if '=' in indent else '  '}"
            folded = [cut(line, width)] if is_excerpt else wrap(line.removeprefix(indent), indent, further, width)
        lines += folded if max(map(len, folded)) <= width else [line]
    return lines


_SEVERITY = re.compile(r"\b(error|warning)\[[\w-]+\]")  # of a problem of a spec


def folded(text: str, stream: TextIO) -> str:
    """Fold a message for a terminal, with the severity of problems in colour; leave it as it is for a log."""
    if not stream.isatty():
        return text
    paint = Paint.for_stream(stream)
    lines = "\n".join(fold(text, text_width(stream, sys.maxsize)))
    return _SEVERITY.sub(lambda match: paint(match[0], "red" if match[1] == "error" else "yellow"), lines)


# Lines that are drawn over themselves


class TextBlock:
    """Lines at the end of a terminal that are drawn over themselves; its mode stays, so nothing is restored."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: Sequence[str] = ()

    def size(self) -> tuple[int, int]:
        return terminal_size(self._descriptor)

    def draw(self, lines: Sequence[str], message: str = "") -> None:
        """Write each line over the one before, all in one write: nothing is blank in between.

        `message`: whole lines that scroll away above the block."""
        body = "".join(f"{visible(line)}\x1b[K\n" for line in [*message.splitlines(), *lines])
        self._write(f"{self._to_first_line()}{body}\x1b[J")
        self._lines = lines

    def clear(self) -> None:
        if self._lines:
            self._write(f"{self._to_first_line()}\x1b[J")
        self._lines = ()

    def forget(self) -> None:
        """Begin anew below, after somebody else has written."""
        self._lines = ()

    def _to_first_line(self) -> str:
        """Move the cursor up; a terminal that became narrower has broken long lines."""
        columns, rows = self.size()
        height = sum(max(1, -(-len(plain(line)) // columns)) for line in self._lines)
        up = min(height, rows - 1)
        return f"\r\x1b[{up}A" if up else "\r"

    def _write(self, text: str) -> None:
        content = text.encode("utf-8", "replace")
        with suppress(OSError):  # a terminal that went away is no reason to lose a measurement
            while content:
                content = content[os.write(self._descriptor, content) :]
