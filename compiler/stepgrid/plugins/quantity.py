"""What a value in a driver's settings is of: says how the language reads its text (100M, 2MiB, 30m)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple


class Quantity(NamedTuple):
    """Of a settings field: a count is an int, a size int bytes, a rate int bytes/s; a duration is float seconds."""

    kind: Literal["count", "size", "rate", "duration", "percent"]


@dataclass(frozen=True, slots=True)
class Nested:
    """Of a settings field whose value may be a map: its leaves are values, the map itself is no `{when:, value:}`."""
