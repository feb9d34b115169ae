"""What a stage is made of, as words: the values as the spec would write them. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from stepgrid.model.number_format import exact_size
from stepgrid.plan.difference.stage_difference import Input
from stepgrid.plan.difference.unset import UNSET

_NO_SIZES = ("_micros", "_usec", "_us", "_ms", "_milliseconds", "_sec", "_seconds", "_count",
             "_deletes", "_deletes_window")  # of names of options  # fmt: skip
# No colon: in a list the loader takes none without quotes, `[0:0]`
_PLAIN = re.compile(r"(?![-?] |[%@])[\w./+%=@-]+(?: [\w./+%=@-]+)*")
_WORDS = frozenset({"null", "true", "false", ".inf", "+.inf", "-.inf", ".nan"})


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
    if isinstance(given, Mapping):
        return yaml(given, sized)
    return f"{given:g}" if isinstance(given, float) else str(given)


def yaml(setting: Any, sized: bool = False) -> str:
    """On one line, as a spec would write it; keys without a value are left out."""
    if isinstance(setting, list | tuple):
        return f"[{', '.join(yaml(item, sized) for item in setting)}]"
    if isinstance(setting, Mapping):
        parts = (f"{yaml(key)}: {yaml(part)}" for key, part in setting.items() if part is not None)
        return f"{{{', '.join(parts)}}}"
    if isinstance(setting, str) and (not _PLAIN.fullmatch(setting) or _reads_otherwise(setting)):
        return json.dumps(setting, ensure_ascii=False)
    return value(setting, sized)


def _reads_otherwise(word: str) -> bool:
    """As null, a truth value, or a number that is written in another way: `0x10`."""
    if word.lower() in _WORDS:
        return True
    for number in (partial(int, base=0), float):
        with suppress(ValueError):
            return str(number(word)) != word
    return False


def may_be_size(field: str) -> bool:
    """Options may; of the settings, which are mostly counts, those that say so. Seeds and the like are none."""
    if field.startswith("options."):
        return not field.endswith(_NO_SIZES)
    return field.endswith(("_rate", "_size", "memory"))
