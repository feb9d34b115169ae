"""Options of a step with every layer applied: those that look at the same axes are worked out together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from stepgrid.expand.expression_scope import UNSET, AlreadyReported, Scope
from stepgrid.language import scalars
from stepgrid.language.problems import Problems
from stepgrid.language.yaml import Text, key_location
from stepgrid.model.plan import Option, encode

LOOSE = "loose_"  # mysqld takes any option with it, and dashes as well


class OptionPart(NamedTuple):
    options: Mapping[str, Option]
    texts: Mapping[str, str]  # what identity has of each


def part(names: Iterable[str], reserved: Mapping[str, str], scope: Scope, problems: Problems) -> OptionPart:
    """Reported, when one of them is wrong; then all that are have been said."""
    found: dict[str, Option] = {}
    faults = list[AlreadyReported]()
    for name in names:
        try:
            option = _option(name, reserved, scope, problems)
        except AlreadyReported as fault:
            faults.append(fault)
        else:
            if option is not None:
                found[name] = option
    if faults:
        raise faults[0]
    return OptionPart(found, {name: f"{_quoted(name)}:{option_text(option)}" for name, option in found.items()})


def _option(name: str, reserved: Mapping[str, str], scope: Scope, problems: Problems) -> Option | None:
    value, entry = scope.option(name)
    if value is UNSET or entry is None:
        return None
    known = name if name in reserved else name.replace("-", "_").lower().removeprefix(LOOSE)
    if known in reserved:
        hint = f"it is the setting `{reserved[known]}` of the step" if reserved[known] else "stepgrid sets it"
        where = key_location(entry.node, entry.where)
        problems.add("reserved-option", where, f"`{name}` cannot be set as an option", hint, len(name))
    typed = scalars.option_value(value, value.quoted) if isinstance(value, Text) else value
    if not isinstance(typed, bool | int | float | str):
        message = f"option `{name}`: expected one value, found {scalars.describe_value(typed)}"
        problems.add("wrong-type", entry.where, message, width=len(name))
        return None
    if isinstance(typed, str) and "\n" in typed:
        message = f"option `{name}`: a value is one line"
        problems.add("control-character", entry.where, message, width=len(name))
    plain: Any = str(typed) if isinstance(typed, str) else typed
    return Option(plain, entry.unsupported, str(entry.where))


@cache
def _quoted(name: str) -> str:
    """The same names come in every step."""
    return encode(name)


def option_text(option: Option) -> str:
    return encode([option.value, "drop"] if option.unsupported == "drop" else [option.value])
