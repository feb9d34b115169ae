"""What is wrong with a text that is no YAML, and where one looks for it: at the beginning of what is not closed."""

from __future__ import annotations

from typing import Any

from stepgrid.language.problems.problem import Location

_OPENED = {
    "while scanning a quoted scalar": "this quote is not closed",
    "while parsing a flow sequence": "this `[` is not closed",
    "while parsing a flow mapping": "this `{` is not closed",
}
_UNCLOSED = ("did not find expected ',' or", "found unexpected end of stream", "found unexpected document indicator")
_LEVEL = "this line fits no level above it"
_TABS = "a tab cannot stand here"
_SAID = {  # what the reader says first -> a sentence, a hint
    "did not find expected key": (_LEVEL, "a key begins where the other keys of its map do"),
    "did not find expected '-' indicator": (_LEVEL, "an item of a list begins with `- `, where the other items do"),
    "did not find expected <document start>": (
        "what comes before is a whole by itself", "a spec is one map, of `key: value` in the first column",
    ),
    "did not find expected node content": ("a value is missing here, or a bracket before it is not closed", ""),
    "mapping values are not allowed in this context": (
        "`: ` cannot stand here", "a text that holds it needs quotes; a key begins where the other keys of its map do",
    ),
    "mapping keys are not allowed in this context": ("`? ` cannot stand here", "a text that begins so needs quotes"),
    "block sequence entries are not allowed in this context": (
        "`- ` cannot stand here", "a list begins on a line of its own, or is written `[a, b]`",
    ),
    "found unexpected ':'": ("`:` cannot stand here", "a text that holds it needs quotes"),
    "found undefined alias": ("no anchor has the name of this alias", "a text that begins with `*` needs quotes"),
    "but found another document": ("`---` begins another document", "a spec is one"),
    "found unknown escape character": ("double quotes have no such escape", "in single quotes `\\` is itself"),
    "found a tab character that violates indentation": (_TABS, "indent with spaces"),
    "second occurrence": ("this anchor is given twice", ""),
}  # fmt: skip
_SPACES = {"\xa0": "a no-break space", "\u202f": "a narrow no-break space", "\u3000": "a wide space"}


def told(error: Any, text: str, file: str) -> tuple[Location, str, str]:
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
    where = _where(file, place) if place is not None else Location(file, 1, 1)
    said, hint = _sentence(error, _line(text, where.line - 1), where.column - 1)
    return where, f"this is not YAML: {said}", _space(text, where.line - 1) or hint


def _sentence(error: Any, line: str, column: int) -> tuple[str, str]:
    """`column`: where in the line the reader stopped, from 0."""
    problem, context = str(getattr(error, "problem", "") or ""), str(getattr(error, "context", "") or "")
    if not problem and not context:
        return str(error).splitlines()[0], ""
    if problem == "found character that cannot start any token":
        tab = line.startswith("\t", column)
        here = line[column : column + 1]
        begins = "a value cannot begin with " + ("a backtick" if here == "`" else f"`{here}`")
        return (_TABS, "indent with spaces") if tab else (begins, "put it in quotes")
    if problem == "did not find expected key" and line[:column].strip():
        return "the value before this has ended", "quotes go around the whole of a text"
    known = next((said for begins, said in _SAID.items() if problem.startswith(begins)), None)
    return known or (f"{problem} ({context})" if problem and context else problem or context, "")


def depth_place(text: str, file: str, most: int) -> Location | None:
    """Where a text is nested too deep, found without going down into it; what is no YAML may be said before that."""
    from ruamel.yaml import YAML

    depth = 0
    for event in YAML(typ="safe").parse(text):
        kind = type(event).__name__
        depth += kind in ("SequenceStartEvent", "MappingStartEvent")
        depth -= kind in ("SequenceEndEvent", "MappingEndEvent")
        if depth > most:
            return _where(file, event.start_mark)
    return None


def _space(text: str, line: int) -> str:
    found = next((name for space, name in _SPACES.items() if space in _line(text, line)), None)
    return f"the line holds {found}: put a plain one" if found else ""


def _line(text: str, number: int) -> str:
    """From 0."""
    lines = text.split("\n")
    return lines[number] if number < len(lines) else ""


def _where(file: str, mark: Any) -> Location:
    return Location(file, mark.line + 1, mark.column + 1)
