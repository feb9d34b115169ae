"""Whether an object has all of a protocol, none of it, or a part that stepgrid would never call."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

import pytest

from stepgrid.lint.rule import RuleProvider

SELF = "self"
NAMED = "list them in the plug-in's `metrics()`"


def optional(module: ModuleType) -> Iterator[Any]:
    """The protocols of a module that a plug-in may have."""
    own = (each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__)
    yield from (each for each in own if getattr(each, "_is_runtime_protocol", False))


def check(plugin: object, *protocols: Any) -> None:
    """The test fails with a line for each fault."""
    if messages := list(faults(plugin, protocols)):
        pytest.fail("\n".join(messages), pytrace=False)


def check_rules(plugin: object) -> None:
    """Of one that has rules of its own."""
    for rule in plugin.rules() if isinstance(plugin, RuleProvider) else ():
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.code), (
            f"the rule's code is {rule.code}: use small letters and digits, in words with hyphens between them"
        )
        assert rule.summary, f"rule {rule.code} has no summary"
        assert callable(rule.check), f"rule {rule.code}: `check` is no function"


def refuse(fault: str, names: Iterable[object], hint: str = "") -> None:
    """The test fails with a sentence that lists the names; without one it passes."""
    if listed := ", ".join(map(str, names)):
        pytest.fail(f"{fault}: {listed}{f'; {hint}' if hint else ''}", pytrace=False)


def faults(plugin: object, protocols: Iterable[Any]) -> Iterator[str]:
    """Of protocols that it has in part, but for the names that it needs for others, and of its signatures."""
    every = {protocol: _members(protocol) for protocol in protocols}
    whole = [protocol for protocol, names in every.items() if all(hasattr(plugin, name) for name in names)]
    used = {name for protocol in whole for name in every[protocol]}
    for protocol, names in every.items():
        there = [name for name in names if hasattr(plugin, name)]
        if protocol not in whole and any(callable(getattr(protocol, name, None)) for name in {*there} - used):
            missing = ", ".join(name for name in names if name not in there)
            yield f"has {', '.join(there)}, and no {missing}: it is no {protocol.__name__} ({protocol.__module__})"
        yield from (fault for name in there if (fault := _signature(plugin, protocol, name)))


def _members(protocol: Any) -> list[str]:
    return [name for name in {**protocol.__annotations__, **vars(protocol)} if not name.startswith("_")]


def _signature(plugin: object, protocol: Any, name: str) -> str | None:
    method = vars(protocol).get(name)
    if not inspect.isfunction(method):
        return None
    wanted = [parameter for parameter in inspect.signature(method).parameters if parameter != SELF]
    try:
        inspect.signature(getattr(plugin, name)).bind(*wanted)
    except TypeError as error:
        return f"`{name}` does not take ({', '.join(wanted)}): {error}"
    return None
