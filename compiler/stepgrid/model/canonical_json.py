"""The one way that values become text where bytes matter: equal values give equal bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from json.encoder import encode_basestring as quoted
from typing import Any

__all__ = ["encode", "fields", "flat", "quoted"]


def encode(value: object) -> str:
    """Compact JSON with sorted keys; a dataclass is its fields."""
    return _ENCODER.encode(value)


def flat(texts: Mapping[str, str]) -> str:
    """What `encode` gives for a map of texts, sooner."""
    return f"{{{','.join([f'{quoted(name)}:{quoted(text)}' for name, text in sorted(texts.items())])}}}"


def fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__dataclass_fields__}


def _plain(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else fields(value)


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain)
