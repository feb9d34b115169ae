"""How long a result took, as its record says."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any


def seconds(record: Mapping[str, Any]) -> float | None:
    """Records of earlier versions have no more than two times of a clock that may have been set meanwhile."""
    try:
        if "seconds" in record:
            return float(record["seconds"])
        span = datetime.fromisoformat(record["ended"]) - datetime.fromisoformat(record["started"])
        return max(span.total_seconds(), 0.0)
    except (KeyError, ValueError, TypeError):
        return None
