"""Text to nodes: the only place where YAML is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from compiler.language.nodes import Map, Node, Seq, Text
from compiler.language.problem import Problems, Where

NULL = "tag:yaml.org,2002:null"


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
        return parse(text, path, problems)
    return None


def parse(text: str, file: str, problems: Problems) -> Map | None:
    root = _compose(text, file, problems)
    if root is None:
        if not problems.errors:
            problems.add("empty-file", Where(file, 1, 1), "the file is empty", "a spec begins with `title:`")
        return None
    node = _convert(root, file, problems)
    if isinstance(node, Map):
        return node
    problems.add("wrong-type", Where(file, 1, 1), "expected a map of settings at the top of the file")
    return None


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


def _convert(node: Any, file: str, problems: Problems) -> Node:
    where = Where(file, node.start_mark.line + 1, node.start_mark.column + 1)
    if not _standard(node.tag):
        problems.add("yaml-tag", where, f"the tag `{node.tag}` means nothing in a spec")
    if node.id == "scalar":
        quoted = node.style in ("'", '"')
        return None if node.tag == NULL and not quoted else Text(node.value, where, quoted)
    if node.id == "sequence":
        return Seq([_convert(item, file, problems) for item in node.value], where)
    return _map(node, where, file, problems)


def _map(node: Any, where: Where, file: str, problems: Problems) -> Map:
    items: dict[str, Node] = {}
    at: dict[str, Where] = {}
    for key_node, value in node.value:
        key_where = Where(file, key_node.start_mark.line + 1, key_node.start_mark.column + 1)
        if key_node.id != "scalar":
            problems.add("wrong-type", key_where, "a key must be plain text")
            continue
        key = key_node.value
        if key == "<<":
            problems.add("merge-key", key_where, "`<<` is not used in specs", "use `extends:`", 2)
        elif key in items:
            first = at[key]
            problems.add("duplicate-key", key_where, f"`{key}` is given twice", f"first at line {first.line}", len(key))
        else:
            items[key], at[key] = _convert(value, file, problems), key_where
    return Map(items, where, at)


def _standard(tag: str) -> bool:
    return tag.startswith("tag:yaml.org,2002:")


def _siblings(path: str) -> str:
    from compiler.language.problem import nearest

    target = Path(path)
    names = [entry.name for entry in target.parent.glob("*.yaml")] if target.parent.is_dir() else []
    return nearest(target.name, names) if names else ""
