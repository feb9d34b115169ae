"""A spec file and its includes, with a scale and `--set` merged in: checked models beside the nodes of the files."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.language import short_forms
from stepgrid.language.files import record_file
from stepgrid.language.models import Library, Spec
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.site import check_may_read
from stepgrid.language.validation import describe, validate
from stepgrid.language.yaml import Map, Node, Seq, Text, drop_keys, load, merge_nodes, node_location, parse_value
from stepgrid.package import SPECS

MOST_INCLUDES = 100


class Source(NamedTuple):
    """An included file: its nodes, with short forms written out, and their model."""

    path: str
    nodes: Map
    library: Library


class Document(NamedTuple):
    """A spec with its includes, nearest first."""

    path: str
    scale: str | None
    nodes: Map
    spec: Spec
    includes: Sequence[Source]
    files: Sequence[str] = ()  # all that were read


def read_spec(path: str, scale: str | None, problems: Problems, sets: Sequence[str] = ()) -> Document | None:
    loaded = load(path, problems)
    if loaded is None:
        return None
    nodes = _apply_sets(_apply_scale(short_forms.expand(loaded), scale, problems), sets, problems)
    files = [path]
    includes = _includes(nodes, path, (path,), files, problems)
    spec, nodes = validate(Spec, nodes, problems, short_forms.expand)
    return None if spec is None else Document(path, scale, nodes, spec, includes, files)


def definition_location(source: Map, kind: str, name: str) -> Location:
    """Locate `define: {kind: {name: …}}` in a file."""
    define = source.get("define")
    group = define.get(kind) if isinstance(define, Map) else None
    return group.at[name] if isinstance(group, Map) and name in group.at else source.where


def _apply_scale(nodes: Map, scale: str | None, problems: Problems) -> Map:
    if scale is None:
        return nodes
    scales = nodes.get("scales")
    patches = scales if isinstance(scales, Map) else Map({}, nodes.where, {})
    patch = patches.get(scale)
    if not isinstance(patch, Map):
        if scale in patches:
            hint = "what belongs to it stands further right" if patch is None else ""
            message = f"`{scale}`: expected a map, found {describe(patch)}"
            problems.add("wrong-type", node_location(patch, patches.at[scale]), message, hint)
        else:
            where = node_location(scales, nodes.where)
            problems.add("undefined-scale", where, f"there is no scale `{scale}`", nearest(scale, patches))
        return nodes
    if "scales" in patch:
        problems.add("unknown-key", patch.at["scales"], "`scales` is not a key here", "a scale has none", len("scales"))
        patch = drop_keys(patch, "scales")
    return _merge(drop_keys(nodes, "scales"), patch)


def _merge(nodes: Map, patch: Map) -> Map:
    merged = merge_nodes(nodes, short_forms.expand(patch))
    assert isinstance(merged, Map)
    return merged


def _apply_sets(nodes: Map, sets: Sequence[str], problems: Problems) -> Map:
    """Apply `--set PATH=VALUE`, as a scale would."""
    for number, text in enumerate(sets, 1):
        path, equals, value = text.partition("=")
        where = Location("--set", number, 1)
        keys = path.split(".")
        if not equals or not all(keys):
            problems.add("set-form", where, f"`{text}` is not PATH=VALUE", "for example: params.keys=1M")
            continue
        node = parse_value(value, where, problems)
        depth, items = _list_on_path(nodes, keys)
        if items is not None:
            outer, inner = keys[:depth], keys[depth:]
            if outer[-1] == "options" and len(inner) == 1 and not inner[0].isdigit():
                keys, node = outer, Seq([*items, Map({inner[0]: node}, where, {inner[0]: where})], where)
            else:
                name = ".".join(outer)
                message, hint = f"`{name}` is a list, which is set as a whole", f"for example: {name}=[…]"
                problems.add("set-form", where, message, hint)
                keys, node = outer, items
        for key in reversed(keys):
            node = Map({key: node}, where, {key: where})
        assert isinstance(node, Map)
        nodes = _merge(nodes, node)
    return nodes


def _list_on_path(nodes: Map, keys: Sequence[str]) -> tuple[int, Seq | None]:
    """Find the list that a path leads into, and how many keys lead to it."""
    node: Node = nodes
    for depth, key in enumerate(keys):
        if isinstance(node, Seq):
            return depth, node
        node = node.get(key) if isinstance(node, Map) else None
    return 0, None


def _includes(nodes: Map, path: str, chain: tuple[str, ...], files: list[str], problems: Problems) -> list[Source]:
    """Read includes depth first; a file that two others include is read once."""
    include = nodes.get("include")
    entries = include if isinstance(include, Seq) else Seq((), nodes.where)
    if len(entries) > MOST_INCLUDES:
        problems.add("too-large", entries.where, f"{len(entries):,} includes: a file has at most {MOST_INCLUDES}")
    names = [entry for entry in entries[:MOST_INCLUDES] if isinstance(entry, Text)]
    return [source for name in names for source in _include(name, path, chain, files, problems)]


def _include(name: Text, path: str, chain: tuple[str, ...], files: list[str], problems: Problems) -> list[Source]:
    target = _target(name, path)
    if not check_may_read(target, chain[0], name, problems):
        problems.unread.append(target)
        return []
    if target in chain:
        circle = " → ".join([*chain[chain.index(target) :], target])
        problems.add("include-cycle", name.where, f"includes go round: {circle}", width=len(name))
        return []
    if target in files:
        return []
    files.append(target)
    loaded = load(target, problems, name.where)
    library = None
    if loaded is not None:
        library, nodes = validate(Library, short_forms.expand(loaded), problems, short_forms.expand)
    if library is None:
        problems.unread.append(target)
        return []
    return [Source(target, nodes, library), *_includes(nodes, target, (*chain, target), files, problems)]


def _target(name: str, path: str) -> str:
    """Find an included file beside the file that includes it, or in stepgrid's own `library/`."""
    near = os.path.normpath(Path(path).parent / name)
    shipped_file = SPECS / name
    if not name.startswith("library/") or os.path.lexists(near):
        return near
    if shipped_file.is_file() or not Path(near).parent.is_dir():
        record_file(near, None)
        return os.path.normpath(shipped_file)
    return near


def get_value(text: str, path: Sequence[str]) -> str | None:
    """Read a scalar in the text of a spec; None if it is missing."""
    node = _find(text, path)
    return str(node.value) if node is not None and node.id == "scalar" else None


def replace_value(text: str, path: Sequence[str], value: str) -> str | None:
    """Replace a value in the text of a spec, and keep all else, comments too; None if the key is missing."""
    node = _find(text, path)
    if node is None:
        return None
    begin, end = node.start_mark.index, node.end_mark.index
    end = begin + len(text[begin:end].rstrip())  # a block ends where the next key begins
    return f"{text[:begin]}{value}{text[end:]}"


def set_key(text: str, key: str, value: str) -> str:
    """Replace the value of a key, or append the key."""
    return replace_value(text, (key,), value) or f"{text.rstrip()}\n{key}: {value}\n"


def _find(text: str, path: Sequence[str]) -> Any:
    from ruamel.yaml import YAML

    node: Any = YAML(typ="safe", pure=True).compose(io.StringIO(text))
    for key in path:
        entries = node.value if node is not None and node.id == "mapping" else ()
        node = next((entry for name, entry in entries if name.value == key), None)
    return node
