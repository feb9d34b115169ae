"""What is wrong with a text that is no YAML, and where one looks for it: at the beginning of what is not closed."""

from __future__ import annotations

from typing import Any

from compiler.language.problem import Where

_OPENED = {
    "while scanning a quoted scalar": "this quote is not closed",
    "while parsing a flow sequence": "this `[` is not closed",
    "while parsing a flow mapping": "this `{` is not closed",
}
_UNCLOSED = ("did not find expected ',' or", "found unexpected end of stream", "found unexpected document indicator")
_SPACES = {"\xa0": "a no-break space", "\u202f": "a narrow no-break space", "\u3000": "a wide space"}


def told(error: Any, text: str, file: str) -> tuple[Where, str, str]:
    """The place, the sentence and the hint."""
    problem, context = getattr(error, "problem", None), getattr(error, "context", None)
    mark, start = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if start is not None and context in _OPENED and str(problem).startswith(_UNCLOSED):
        stopped = "did not" in str(problem)
        hint = f"what comes at line {mark.line + 1} cannot stand in it" if stopped and mark is not None else ""
        return _where(file, start), f"this is not YAML: {_OPENED[context]}", hint
    if start is not None and context == "while scanning a simple key":
        return _where(file, start), "this is not YAML: a key needs `: ` behind it", _space(text, start.line)
    place = mark or start
    where = _where(file, place) if place is not None else Where(file, 1, 1)
    said = f"{problem} ({context})" if problem and context else problem or context or str(error).splitlines()[0]
    return where, f"this is not YAML: {said}", _space(text, where.line - 1)


def depth_place(text: str, file: str, most: int) -> Where:
    """Where a text is nested too deep, found without going down into it."""
    from ruamel.yaml import YAML

    depth = 0
    for event in YAML(typ="safe").parse(text):
        kind = type(event).__name__
        depth += kind in ("SequenceStartEvent", "MappingStartEvent")
        depth -= kind in ("SequenceEndEvent", "MappingEndEvent")
        if depth > most:
            return _where(file, event.start_mark)
    return Where(file, 1, 1)


def _space(text: str, line: int) -> str:
    lines = text.split("\n")
    said = lines[line] if line < len(lines) else ""
    found = next((name for space, name in _SPACES.items() if space in said), None)
    return f"the line holds {found}: put a plain one" if found else ""


def _where(file: str, mark: Any) -> Where:
    return Where(file, mark.line + 1, mark.column + 1)
