"""A spec file and its includes, with a scale merged in: checked models beside the nodes that they came from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stepgrid.language import file_roots, short_forms
from stepgrid.language.files import record_file
from stepgrid.language.override import override
from stepgrid.language.problems import Location, Problems, nearest
from stepgrid.language.validation import describe, mended
from stepgrid.language.yaml import Map, Seq, Text, drop_keys, load, merge_nodes, node_location
from stepgrid.model.package_data import SPECS

if TYPE_CHECKING:
    from stepgrid.language.models import Library, Spec


MOST_INCLUDES = 100


class Source(NamedTuple):
    """One file: its nodes (short forms written out) and what they are."""

    path: str
    nodes: Map
    library: Library


class Document(NamedTuple):
    """A spec with everything that it includes, nearest first."""

    path: str
    scale: str | None
    nodes: Map
    spec: Spec
    includes: Sequence[Source]
    files: Sequence[str] = ()  # all that were read


def read(path: str, scale: str | None, problems: Problems, sets: Sequence[str] = ()) -> Document | None:
    from stepgrid.language.models import Spec

    loaded = load(path, problems)
    if loaded is None:
        return None
    nodes = override(_scaled(_expanded(loaded), scale, problems), sets, problems)
    files = [path]
    includes = _includes(nodes, path, (path,), files, problems)
    spec, nodes = mended(Spec, nodes, problems, _expanded)
    if spec is None:
        return None
    return Document(path, scale, nodes, spec, includes, files)


def _scaled(nodes: Map, scale: str | None, problems: Problems) -> Map:
    if scale is None:
        return nodes
    scales = nodes.get("scales")
    known = scales if isinstance(scales, Map) else {}
    patch = known.get(scale)
    if scale in known and not isinstance(patch, Map):
        where = known.at[scale] if isinstance(known, Map) else nodes.where
        hint = "what belongs to it stands further right" if patch is None else ""
        problems.add(
            "wrong-type", node_location(patch, where), f"`{scale}`: expected a map, found {describe(patch)}", hint
        )
        return nodes
    if not isinstance(patch, Map):
        where = node_location(scales, nodes.where)
        problems.add("undefined-scale", where, f"there is no scale `{scale}`", nearest(scale, known))
        return nodes
    if "scales" in patch:
        problems.add("unknown-key", patch.at["scales"], "`scales` is not a key here", "a scale has none", len("scales"))
        patch = drop_keys(patch, "scales")
    merged = merge_nodes(drop_keys(nodes, "scales"), _expanded(patch))
    return merged if isinstance(merged, Map) else nodes


def _includes(nodes: Map, path: str, chain: tuple[str, ...], files: list[str], problems: Problems) -> list[Source]:
    """Depth first; a file that two others include is read once."""
    found: list[Source] = []
    listed = nodes.get("include")
    entries = listed if isinstance(listed, Seq) else Seq((), nodes.where)
    if len(entries) > MOST_INCLUDES:
        problems.add("too-large", entries.where, f"{len(entries):,} includes: a file has at most {MOST_INCLUDES}")
    for entry in entries[:MOST_INCLUDES]:
        if isinstance(entry, Text):
            found += _include(entry, path, chain, files, problems)
    return found


def _include(entry: Text, path: str, chain: tuple[str, ...], files: list[str], problems: Problems) -> list[Source]:
    from stepgrid.language.models import Library

    target = _target(entry, path)
    if not file_roots.check(target, chain[0], entry, problems):
        problems.unread.append(target)
        return []
    if target in chain:
        circle = " → ".join([*chain[chain.index(target) :], target])
        problems.add("include-cycle", entry.where, f"includes go round: {circle}", width=len(entry))
        return []
    if target in files:
        return []
    files.append(target)
    loaded = load(target, problems, entry.where)
    library, nodes = (None, None) if loaded is None else mended(Library, _expanded(loaded), problems, _expanded)
    if library is None or nodes is None:
        problems.unread.append(target)
        return []
    return [Source(target, nodes, library), *_includes(nodes, target, (*chain, target), files, problems)]


def _target(entry: str, path: str) -> str:
    """Beside the file that includes it; else `library/` is the one that comes with stepgrid."""
    near = os.path.normpath(Path(path).parent / entry)
    shipped = SPECS / entry
    if not entry.startswith("library/") or os.path.lexists(near):
        return near
    if shipped.is_file() or not os.path.isdir(os.path.dirname(near)):  # noqa: PTH112, PTH120 - an import less
        record_file(near, None)
        return os.path.normpath(shipped)
    return near


def _expanded(loaded: Map) -> Map:
    nodes = short_forms.expand(loaded)
    assert isinstance(nodes, Map)
    return nodes


def definition_where(source: Map, kind: str, name: str) -> Location:
    """Where `define: {kind: {name: …}}` stands in a file."""
    define = source.get("define")
    group = define.get(kind) if isinstance(define, Map) else None
    return group.at[name] if isinstance(group, Map) and name in group.at else source.where
