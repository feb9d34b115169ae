"""What an id is made of: never titles, labels, comments, order of keys or axes, report, paths, how many repeats.

What counts of a step is said by `ResolvedStep.identity` (expand/evaluation.py)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stepgrid.model.plan import BUILD_PREFIX, STAGE_PREFIX, Json, encode, quoted

DESCRIBED = "described"  # of a machine: those that it stands in for, by id
LENGTH = 20  # hexadecimal digits: 80 bits
_SEED_BITS = 0x7FFFFFFF


def digest(value: object) -> str:
    return text_digest(encode(value))


def text_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def build_id(
    engine: str, version: str, source: Mapping[str, Any], pin: str, recipe: Mapping[str, Any] | None = None
) -> str:
    """`pin` holds still what moves: a system binary's or a tree's content, a ref's commit, the content of patches."""
    return BUILD_PREFIX + digest([engine, version, _named(source), pin, *([dict(recipe)] if recipe else [])])


def _named(source: Mapping[str, Any]) -> dict[str, Any]:
    """A local tree is its content, wherever it lies."""
    named = {key: _named(value) if isinstance(value, Mapping) else value for key, value in source.items()}
    return {**named, "path": ""} if "path" in named else named


def hardware_id(facts: Mapping[str, Json]) -> str:
    explicit = facts.get("id")
    return str(explicit) if explicit else "h-" + digest(dict(facts))


def machine(facts: Mapping[str, Json]) -> dict[str, Json]:
    """With the id that stages have. A host that stands in for another machine is itself, and says what for."""
    said = {name: value for name, value in facts.items() if name not in ("declared", "real")}
    real = facts.get("real")
    if not isinstance(real, Mapping):
        return {**facts, "id": hardware_id(said)}
    return {**real, "id": hardware_id(real), "declared": False, DESCRIBED: {hardware_id(said): said}}


def stage_id(root: Sequence[str], parent: str | None, steps: Iterable[tuple[str, int]], load: int, run: int) -> str:
    """`root` is build and hardware; `steps` are the steps' identities with their seeds. Index 0 adds nothing."""
    above = encode(list(root)) if parent is None else quoted(parent)
    seeded = ",".join([f"[{step},{seed}]" for step, seed in steps])
    indices = ",".join([f'["{name}",{index}]' for name, index in (("load", load), ("run", run)) if index])
    return STAGE_PREFIX + text_digest(f"[{above},[{seeded}],[{indices}]]")


def seed(spec_seed: int, load: int, run: int, what: str, occurrence: int) -> int:
    """The same in every arm of a comparison, never the same twice within a run; never 0, which means "by the clock"."""
    text = f"{spec_seed}/{load}/{run}/{what}/{occurrence}"
    return (int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") & _SEED_BITS) or 1
