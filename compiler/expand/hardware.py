"""The spec's hardware: this host, a machine by name, or one described in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compiler.expand.definitions import Defined
from compiler.language.models import Hardware
from compiler.language.nodes import Map, Text, place
from compiler.language.problem import Problems, nearest
from compiler.language.read import Document
from compiler.language.validate import describe, validated

HERE = "here"


def resolve(document: Document, defined: Defined, host: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
    """The facts that `hardware.*` means, and `declared`: whether the spec says them or the host does."""
    given = document.nodes.get("hardware")
    if given is None or given == HERE:
        return {**host, "declared": False}
    found = _described(given, document, defined, problems)
    facts = found.model_dump(mode="json", exclude_none=True) if found is not None else {}
    if isinstance(given, Text) and found is not None:
        facts.setdefault("id", str(given))
    return {**facts, "declared": True}


def _described(given: Any, document: Document, defined: Defined, problems: Problems) -> Hardware | None:
    where = place(given, document.nodes.at["hardware"])
    if isinstance(given, Map):
        return validated(Hardware, given, problems)
    if isinstance(given, Text) and given in defined.hardware:
        return defined.hardware[given]
    if isinstance(given, Text):
        hint = nearest(given, [HERE, *defined.hardware])
        problems.add("undefined-name", where, f"there is no hardware `{given}`", hint, len(given))
    else:
        problems.add("wrong-type", where, f"`hardware`: expected a name or a map, found {describe(given)}")
    return None
