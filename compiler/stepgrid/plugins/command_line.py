"""The argument list of a command: placeholders replaced, never a shell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stepgrid.plugins.driver import Context

OPTION = ("--{name}={value}",)  # how one option is written
_PLACEHOLDER = re.compile(r"\{(data|folder|seed|options|program:([^{}]+))\}")


def argv(
    words: Sequence[str],
    options: Mapping[str, Any],
    context: Context,
    more: Mapping[str, str] | None = None,
    option: Sequence[str] = OPTION,
) -> tuple[str, ...]:
    """`more`: placeholders of one who asks for it. `option`: how one option is written."""
    filled = [_filled(word, more) for word in words] if more else words
    written = [_filled(word, {"name": n, "value": as_text(v)}) for n, v in options.items() for word in option]
    return tuple(word for given in filled for word in _words(given, written, context))


def candidates(words: Sequence[str]) -> list[str]:
    """Those that may name a file: the first is looked for on PATH where it is a plain name, and others are seldom
    files without a dot or a slash."""
    named = [word for n, word in enumerate(words) if "/" in word or (n and "." in word)]
    return [word for word in named if not _PLACEHOLDER.search(word)]


def file_names(words: Sequence[str]) -> list[str]:
    """All that may be the name of a file: each word, and what stands behind its `=`."""
    parts = [part for word in words for part in dict.fromkeys((word, word.partition("=")[2]))]
    return [part for part in parts if part.strip("./") and "\n" not in part and not _PLACEHOLDER.search(part)]


def on_path(program: str) -> str | None:
    """Find a program of PATH."""
    if not program or "/" in program or _PLACEHOLDER.search(program):
        return None
    paths = [f"{folder}/{program}" for folder in os.get_exec_path()]  # some folders of PATH may be closed to us
    return next((path for path in paths if os.path.isfile(path) and os.access(path, os.X_OK)), None)  # noqa: PTH113


def misplaced(words: Sequence[str]) -> str | None:
    """A placeholder that stands for several words, inside one."""
    for word in words:
        for match in _PLACEHOLDER.finditer(word):
            if (match[1] == "options" or match[2] is not None) and match[0] != word:
                return match[0]
    return None


def programs(words: Sequence[str]) -> list[str]:
    """Those of the build that are named."""
    return [match[2] for word in words for match in _PLACEHOLDER.finditer(word) if match[2] is not None]


def _words(given: str, options: Sequence[str], context: Context) -> Iterator[str]:
    whole = _PLACEHOLDER.fullmatch(given)
    if given in context.inputs:
        yield context.inputs[given]
    elif whole and whole[2] is not None:
        yield from _program(whole[2], context)
    elif whole and whole[1] == "options":
        yield from options
    else:
        yield _PLACEHOLDER.sub(lambda match: _value(match, context), given)


def _filled(word: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: values.get(match[1], match[0]), word)


def _program(name: str, context: Context) -> Sequence[str]:
    if name not in context.programs:
        raise LookupError(f"the build has no program `{name}`; it has: {', '.join(context.programs) or 'none'}")
    return context.programs[name]


def _value(match: re.Match[str], context: Context) -> str:
    values = {"data": context.data, "folder": context.folder, "seed": context.seed}
    return str(values[match[1]])


def as_text(value: Any) -> str:
    """As programs read it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
