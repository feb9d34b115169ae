"""JSON objects in files, for those who look at many of them: one that is damaged says nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stepgrid.host.file_reader import content


def read(path: Path | str) -> dict[str, Any]:
    """Empty when it is missing, or no JSON object."""
    from pydantic_core import from_json  # as json.loads, in half its time

    try:
        raw = from_json(content(path))
    except (OSError, ValueError):
        return {}
    return raw if isinstance(raw, dict) else {}
