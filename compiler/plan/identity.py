"""What an id is made of: never titles, labels, comments, order of keys or axes, report, paths, how many repeats."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from compiler.plan.model import BUILD_PREFIX, STAGE_PREFIX, Json

_LENGTH = 20  # hexadecimal digits: 80 bits
_SEED_BITS = 0x7FFFFFFF


def digest(value: Json) -> str:
    return text_digest(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False))


def text_digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]


def build_id(engine: str, version: str, source: Mapping[str, Any], pin: str) -> str:
    """`pin` is what holds a movable source still: the content of a system binary."""
    return BUILD_PREFIX + digest([engine, version, dict(source), pin])


def hardware_id(facts: Mapping[str, Json]) -> str:
    explicit = facts.get("id")
    return str(explicit) if explicit else "h-" + digest(dict(facts))


def stage_id(root: Sequence[str], parent: str | None, steps: Sequence[tuple[str, int]], load: int, run: int) -> str:
    """`root` is build and hardware; `steps` are the steps' identities with their seeds. Index 0 adds nothing."""
    above: Json = list(root) if parent is None else parent
    indices: list[Json] = [[name, index] for name, index in (("load", load), ("run", run)) if index]
    return STAGE_PREFIX + digest([above, [[json.loads(step), seed] for step, seed in steps], indices])


def seed(spec_seed: int, load: int, run: int, what: str, occurrence: int) -> int:
    """The same in every arm of a comparison, never the same twice within a run; never 0, which means "by the clock"."""
    text = f"{spec_seed}/{load}/{run}/{what}/{occurrence}"
    return (int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") & _SEED_BITS) or 1
