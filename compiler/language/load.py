"""Text to nodes: the only place where YAML is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from compiler.language import witness
from compiler.language.nodes import Map, Node, Seq, Text
from compiler.language.problem import Problems, Where

NULL = "tag:yaml.org,2002:null"
MOST_NODES = 1_000_000


def load(path: str, problems: Problems, asked_at: Where | None = None) -> Map | None:
    """The map that a file holds; None when it holds none, with the reason among the problems."""
    where = asked_at or Where(path, 1, 1)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        problems.add("file-not-found", where, f"there is no file `{path}`", _siblings(path))
    except IsADirectoryError:
        problems.add("file-not-found", where, f"`{path}` is a folder, not a spec")
    except UnicodeDecodeError as error:
        problems.add("not-utf8", where, f"`{path}` is not UTF-8 text (byte {error.start})")
    except OSError as error:
        problems.add("file-not-found", where, f"`{path}` cannot be read: {error.strerror}")
    else:
        witness.saw(path, text.encode())
        return parse(text, path, problems)
    return None


def parse(text: str, file: str, problems: Problems) -> Map | None:
    root = _compose(text, file, problems)
    if root is None:
        if not problems.errors:
            problems.add("empty-file", Where(file, 1, 1), "the file is empty", "a spec begins with `title:`")
        return None
    node = _Converter(file, problems).convert(root)
    if isinstance(node, Map):
        return node
    problems.add("wrong-type", Where(file, 1, 1), "expected a map of settings at the top of the file")
    return None


def parse_value(text: str, where: Where, problems: Problems) -> Node:
    """A value that does not come from a file."""
    root = _compose(text, where.file, problems)
    return None if root is None else _Converter(where.file, problems).convert(root)


def _compose(text: str, file: str, problems: Problems) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return YAML(typ="safe").compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = Where(file, mark.line + 1, mark.column + 1) if mark else Where(file, 1, 1)
        context = f" ({error.context})" if error.context and error.problem else ""
        problems.add("yaml-syntax", where, f"this is not YAML: {error.problem or error.context}{context}")
    except YAMLError as error:
        problems.add("yaml-syntax", Where(file, 1, 1), f"this is not YAML: {str(error).splitlines()[0]}")
    return None


class _Converter:
    """Composed YAML to nodes. An alias is written out; one that holds itself, or multiplies, is refused."""

    def __init__(self, file: str, problems: Problems) -> None:
        self._file, self._problems = file, problems
        self._open: set[int] = set()
        self._left = MOST_NODES

    def convert(self, node: Any) -> Node:
        where = self._where(node)
        self._left -= 1
        if id(node) in self._open or self._left == 0:
            self._problems.add("yaml-alias", where, "this alias holds itself, or far too much")
        if id(node) in self._open or self._left <= 0:
            return None
        if not node.tag.startswith("tag:yaml.org,2002:"):
            self._problems.add("yaml-tag", where, f"the tag `{node.tag}` means nothing in a spec")
        if node.id == "scalar":
            quoted = node.style in ("'", '"')
            return None if node.tag == NULL and not quoted else Text(node.value, where, quoted)
        self._open.add(id(node))
        found = self._map(node, where) if node.id == "mapping" else Seq([self.convert(i) for i in node.value], where)
        self._open.discard(id(node))
        return found

    def _map(self, node: Any, where: Where) -> Map:
        items: dict[str, Node] = {}
        at: dict[str, Where] = {}
        for key_node, value_node in node.value:
            key, key_where = key_node.value, self._where(key_node)
            if self._is_key(key_node, key_where, at):
                value = self.convert(value_node)
                if value is not None:
                    value.key = key_where
                items[key], at[key] = value, key_where
        return Map(items, where, at)

    def _is_key(self, node: Any, where: Where, at: dict[str, Where]) -> bool:
        key = node.value
        if node.id != "scalar":
            self._problems.add("wrong-type", where, "a key must be plain text")
        elif key == "<<":
            self._problems.add("merge-key", where, "`<<` is not used in specs", "use `extends:`", 2)
        elif key in at:
            hint = f"first at line {at[key].line}"
            self._problems.add("duplicate-key", where, f"`{key}` is given twice", hint, len(key))
        else:
            return True
        return False

    def _where(self, node: Any) -> Where:
        return Where(self._file, node.start_mark.line + 1, node.start_mark.column + 1)


def _siblings(path: str) -> str:
    from compiler.language.problem import nearest

    target = Path(path)
    names = [entry.name for entry in target.parent.glob("*.yaml")] if target.parent.is_dir() else []
    return nearest(target.name, names) if names else ""
