"""Text to nodes: the only place where YAML is read."""

from __future__ import annotations

import re
from typing import Any

from stepgrid.language.problems.problem import Location, Problems
from stepgrid.language.yaml import errors, file_content
from stepgrid.language.yaml.characters import cleaned, decoded, strange
from stepgrid.language.yaml.nodes import Map, Node, Seq, Text

_PLAIN = "tag:yaml.org,2002:"  # YAML's own, which it also gives to what has none
_TAGS = {
    f"{_PLAIN}{name}" for name in ("null", "bool", "int", "float", "str", "timestamp", "value", "merge", "seq", "map")
}
NULL = f"{_PLAIN}null"
MOST_COPIES = 10_000  # nodes that aliases may add
MOST_LEVELS = 40
MOST_OPENED = 1_000  # brackets, or columns before the first word of a line: so deep the parser can go for sure
LONGEST_TAG = 100  # characters: to decode one takes a time that grows with its square
_INDENTED = re.compile(r"^[ ?-]*", re.MULTILINE)


def load(path: str, problems: Problems, asked_at: Location | None = None) -> Map | None:
    """The map that a file holds; None when it holds none, with the reason among the problems."""
    content = file_content.read(path, problems, asked_at)
    text = None if content is None else decoded(content, path, problems)
    return None if text is None else parse(text, path, problems)


def parse(text: str, file: str, problems: Problems) -> Map | None:
    before = len(problems.errors)
    node = _converted(cleaned(text, file, problems), file, problems)
    if isinstance(node, Map):
        return node
    if len(problems.errors) == before:
        if node is None:
            problems.add("empty-file", Location(file, 1, 1), "the file is empty", "a spec begins with `title:`")
        else:
            problems.add("wrong-type", Location(file, 1, 1), "expected a map of settings at the top of the file")
    return None


def parse_value(text: str, where: Location, problems: Problems) -> Node:
    """A value that does not come from a file."""
    return _converted(text, where.file, problems)


def _converted(text: str, file: str, problems: Problems) -> Node:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        if _may_be_deep(text) and (where := errors.depth_place(text, file, MOST_LEVELS)):
            problems.add("too-deep", where, _deep())
            return None
        root = YAML(typ="safe").compose(text)
        return None if root is None else _Converter(file, problems).convert(root)
    except YAMLError as error:
        where, message, hint = errors.told(error, text, file)
        problems.add("yaml-syntax", where, message, hint)
    return None


def _may_be_deep(text: str) -> bool:
    """The parser goes down into what is nested by calling itself, in C: too deep is the end of the process."""
    opened = text.count("[") + text.count("{")
    return opened > MOST_OPENED or max(map(len, _INDENTED.findall(text))) > MOST_OPENED


def _tag(node: Any) -> str:
    suffix = node.ctag.suffix or ""
    return str(node.tag) if len(suffix) <= LONGEST_TAG else f"{suffix[:LONGEST_TAG]}…"


def _deep() -> str:
    return f"maps and lists are nested more than {MOST_LEVELS} deep"


class _Converter:
    """Composed YAML to nodes. An alias is written out; one that holds itself, or multiplies, is refused."""

    def __init__(self, file: str, problems: Problems) -> None:
        self._file, self._problems = file, problems
        self._open: dict[int, None] = {}
        self._seen: set[int] = set()
        self._left = MOST_COPIES

    def convert(self, node: Any) -> Node:
        where = self._where(node)
        if self._refused(node, where):
            return None
        tag = _tag(node)
        if tag not in _TAGS:
            shown = tag.replace(_PLAIN, "!!")
            self._problems.add("yaml-tag", where, f"the tag `{shown}` means nothing in a spec")
        if node.id == "scalar":
            return self._scalar(node, where)
        self._open[id(node)] = None
        found = self._map(node, where) if node.id == "mapping" else self._list(node, where)
        del self._open[id(node)]
        return found

    def _refused(self, node: Any, where: Location) -> bool:
        """An alias shows as a node that was there before."""
        if id(node) in self._seen:
            self._left -= 1
        self._seen.add(id(node))
        if id(node) in self._open or self._left == 0:
            self._problems.add("yaml-alias", where, "this alias holds itself, or far too much")
        if len(self._open) >= MOST_LEVELS:
            self._problems.add("too-deep", where, _deep())
        return id(node) in self._open or self._left <= 0 or len(self._open) >= MOST_LEVELS

    def _scalar(self, node: Any, where: Location) -> Text | None:
        quoted = node.style in ("'", '"')
        if _tag(node) == NULL and not quoted:
            return None
        for name in strange(node.value):
            message, hint = f"a value cannot hold {name}", "only line breaks and tabs, where a text may have them"
            self._problems.add("control-character", where, message, hint)
            break
        return Text(node.value, where, quoted)

    def _list(self, node: Any, where: Location) -> Seq:
        return Seq([self.convert(item) for item in node.value], where, [self._where(item) for item in node.value])

    def _map(self, node: Any, where: Location) -> Node:
        items: dict[str, Node] = {}
        at: dict[str, Location] = {}
        for key_node, value_node in node.value:
            key, key_where = key_node.value, self._where(key_node)
            if key_node.id == "mapping" and len(node.value) == 1 and node.flow_style:
                hint = 'put the whole value in quotes: "{{ … }}"'
                self._problems.add("wrong-type", where, "`{{ … }}` without quotes is a map to YAML", hint, 2)
                return Text("1", where)  # so that nothing follows from it
            if self._is_key(key_node, key_where, at):
                value = self.convert(value_node)
                if value is not None:
                    value.key = key_where
                items[key], at[key] = value, key_where
        return Map(items, where, at)

    def _is_key(self, node: Any, where: Location, at: dict[str, Location]) -> bool:
        key = node.value
        if node.id != "scalar":
            self._problems.add("wrong-type", where, "a key must be plain text")
        elif key == "<<":
            self._problems.add("merge-key", where, "`<<` is not used in specs", "use `extends:`", 2)
        elif key in at:
            hint = f"first at line {at[key].line}"
            self._problems.add("duplicate-key", where, f"`{key}` is given twice", hint, len(key))
        elif not key.strip():
            self._problems.add("wrong-type", where, "a name cannot be empty")
        elif found := strange(key, allowed=""):
            self._problems.add("control-character", where, f"a name cannot hold {found[0]}")
        else:
            return True
        return False

    def _where(self, node: Any) -> Location:
        return Location(self._file, node.start_mark.line + 1, node.start_mark.column + 1)
