"""Content ids of builds, stages and machines, and the seeds of steps.

No id has titles, labels, comments, the order of keys or axes, the report, paths, or how many repeats there are. What
counts of a step is in `ResolvedStep.identity` of stepgrid.expand."""

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
    """Identify a build. `pin` holds still what moves: content of a system's binary or a tree, commit, patches."""
    return BUILD_PREFIX + digest([engine, version, _placeless(source), pin, *([dict(recipe)] if recipe else [])])


def _placeless(source: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out where a local tree lies and which of its files were chosen: their names and contents identify it."""
    values = {key: _placeless(value) if isinstance(value, Mapping) else value for key, value in source.items()}
    if "path" in values:
        values.pop("files", None)
        values["path"] = ""
    return values


def hardware_id(facts: Mapping[str, Json]) -> str:
    explicit = facts.get("id")
    return str(explicit) if explicit else "h-" + digest(dict(facts))


def machine(facts: Mapping[str, Json]) -> dict[str, Json]:
    """Add the id that stages have. A host that stands in for another machine is itself, and names the other."""
    values = {name: value for name, value in facts.items() if name not in ("declared", "real")}
    real = facts.get("real")
    if not isinstance(real, Mapping):
        return {**facts, "id": hardware_id(values)}
    return {**real, "id": hardware_id(real), "declared": False, DESCRIBED: {hardware_id(values): values}}


def stage_id(root: Sequence[str], parent: str | None, steps: Iterable[tuple[str, int]], load: int, run: int) -> str:
    """Identify a stage. `root` is build and hardware; `steps` are identities and seeds. Index 0 adds nothing."""
    origin = encode(list(root)) if parent is None else quoted(parent)
    seeded = ",".join([f"[{step},{seed}]" for step, seed in steps])
    indices = ",".join([f'["{name}",{index}]' for name, index in (("load", load), ("run", run)) if index])
    return STAGE_PREFIX + text_digest(f"[{origin},[{seeded}],[{indices}]]")


def seed(spec_seed: int, load: int, run: int, kind: str, occurrence: int) -> int:
    """Derive a seed: the same in every arm of a comparison, never the same twice within a run.

    It is never 0, which means "by the clock". `kind`: what the step does."""
    text = f"{spec_seed}/{load}/{run}/{kind}/{occurrence}"
    return (int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") & _SEED_BITS) or 1
