"""All kinds: what a summary has otherwise than we do is explained, each reason under its own heading."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stepgrid.plugins.registry import DRIVERS, IMPORTERS
from stepgrid.transfer.published import read_folder

KINDS = IMPORTERS.names()
PAGE = Path(__file__).resolve().parents[2] / "docs" / "legacy.md"


def test_a_kind_is_a_driver_of_ours() -> None:
    assert set(KINDS) <= set(DRIVERS.names())
    assert [IMPORTERS.get(name).kind for name in KINDS] == list(KINDS)


def test_an_unknown_kind_says_which_there_are() -> None:
    with pytest.raises(LookupError, match=r"^kind of published results `other` is not installed; `pip install "):
        IMPORTERS.get("other")


@pytest.mark.parametrize("name", KINDS)
def test_every_reason_is_a_heading_of_the_page(name: str, published: Callable[[str], Path]) -> None:
    headings = {line.removeprefix("## ") for line in PAGE.read_text(encoding="utf-8").split("\n")}
    assert {each.why for each in read_folder(name, published(name)).differences} <= headings
