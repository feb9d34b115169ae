"""Records of steps in a result: whether what reports read of one has the types that a run writes."""

from __future__ import annotations

from typing import Any


def sound(record: Any) -> bool:
    """What a hand or a damaged disk changed would otherwise end the report of all results."""
    if not isinstance(record, dict):
        return False
    counters = record.get("counters") or {}
    return (
        _is_number(record.get("seconds", 0))
        and _are_texts(record.get("warnings", []))
        and _are_numbers(record.get("probes") or {})
        and isinstance(counters, dict)
        and all(map(_are_numbers, counters.values()))
    )


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _are_numbers(values: Any) -> bool:
    return isinstance(values, dict) and all(value is not None and _is_number(value) for value in values.values())


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)
