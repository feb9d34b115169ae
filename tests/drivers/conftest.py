from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from stepgrid.plugins.registry import driver

Refusals = Callable[[str, dict[str, Any]], list[tuple[str, str]]]


@pytest.fixture
def refused() -> Refusals:
    """The settings that a kind refuses, each with what it says."""

    def said(kind: str, given: dict[str, Any]) -> list[tuple[str, str]]:
        with pytest.raises(ValidationError) as caught:
            driver(kind).settings_model().model_validate(given)
        return [(str(error["loc"][0]), error["msg"]) for error in caught.value.errors()]

    return said


@pytest.fixture
def kept() -> Callable[[str, dict[str, Any]], dict[str, Any]]:
    """What of some settings decides what is run."""

    def dumped(kind: str, given: dict[str, Any]) -> dict[str, Any]:
        found = driver(kind).settings_model().model_validate(given)
        return found.model_dump(mode="json", exclude_defaults=True)

    return dumped
