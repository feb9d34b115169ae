"""A point of a search as it is run: with the value that was chosen for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stepgrid.model.axis_search import SEARCH, AxisSearch
from stepgrid.model.plan import Json, PlannedStep


def with_value(step: PlannedStep, value: int) -> PlannedStep:
    """As its setting, or in the words of its command where it has no such setting."""
    search = AxisSearch.of(step.setup)
    if search is None:
        return step
    if search.param in step.settings:
        return replace(step, settings={**step.settings, search.param: value})
    settings = {name: _filled(said, placeholder(search), str(value)) for name, said in step.settings.items()}
    return replace(step, settings=settings)


def as_run(step: PlannedStep, record: Mapping[str, Any]) -> PlannedStep:
    """By what its record says that it tried."""
    return with_value(step, int(record[SEARCH])) if SEARCH in record else step


def placeholder(search: AxisSearch) -> str:
    return f"{{{search.param}}}"


def _filled(said: Json, name: str, value: str) -> Json:
    """In a list of words."""
    if not isinstance(said, list):
        return said
    return [word.replace(name, value) if isinstance(word, str) else word for word in said]
