"""What a stage is made of, as words: the values as the spec would write them. Pure."""

from __future__ import annotations

from typing import Any

from stepgrid.model.number_format import exact_size
from stepgrid.plan.difference.stage_difference import Input
from stepgrid.plan.difference.unset import UNSET

_NO_SIZES = ("_micros", "_usec", "_us", "_ms", "_milliseconds", "_sec", "_seconds", "_count",
             "_deletes", "_deletes_window")  # of names of options  # fmt: skip


def line(each: Input) -> str:
    """options.cache_size: 8MiB -> 16MiB"""
    old, new = (value(side, may_be_size(each.field)) for side in (each.old, each.new))
    return f"{each.field}: {old} -> {new}"


def value(given: Any, sized: bool = True) -> str:
    """As the spec would write it: where it may be a size, a whole one gets its unit from 64 KiB on."""
    if given is UNSET:
        return "not set"
    if given is None:
        return "null"
    if isinstance(given, bool):
        return str(given).lower()
    if sized and isinstance(given, int) and given >= 2**16:
        return exact_size(given)
    if isinstance(given, list | tuple):
        return f"[{', '.join(value(each, sized) for each in given)}]"
    return f"{given:g}" if isinstance(given, float) else str(given)


def may_be_size(field: str) -> bool:
    """Options may; of the settings, which are mostly counts, those that say so. Seeds and the like are none."""
    if field.startswith("options."):
        return not field.endswith(_NO_SIZES)
    return field.endswith(("_rate", "_size", "memory"))
