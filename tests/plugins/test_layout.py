"""Layouts whose figures are easy to check by eye."""

import pytest

from stepgrid.plugins.layout import Layout
from stepgrid.plugins.registry import LAYOUTS, default_tables


@pytest.mark.parametrize("name", LAYOUTS.names())
def test_every_layout_is_one(name: str) -> None:
    assert isinstance(LAYOUTS.get(name), Layout)


def test_a_layout_that_there_is_not() -> None:
    with pytest.raises(LookupError, match=r"^layout `iostats` is not installed; "):
        LAYOUTS.get("iostats")


@pytest.mark.parametrize(
    "kind", ["db_bench", "sysbench", "insert_benchmark", "linkbench", "tpcc", "vector_search", "command"]
)
def test_what_a_kind_shows_without_being_asked_is_a_layout(kind: str) -> None:
    assert default_tables(kind)
    assert set(default_tables(kind)) <= set(LAYOUTS.names())
