"""JSON of what a command says: times as text, and no number where there is none."""

from __future__ import annotations

import json
from datetime import date
from typing import Any


def text(value: Any, indent: int | None = 1) -> str:
    return json.dumps(_plain(value), indent=indent, ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and value - value != 0:
        return None  # no number of JSON
    return value if isinstance(value, bool | int | float | str) or value is None else str(value)
