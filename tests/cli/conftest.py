"""What the tests of the command line share."""

import pytest

from compiler.language import render


@pytest.fixture(autouse=True)
def sources_are_read_again() -> None:
    """Every test has another `a.yaml`; a process of its own has read none before."""
    render._source.cache_clear()
