"""A command that only looks at files ends in bounded time and memory."""

import resource
from itertools import repeat

import pytest

from stepgrid.cli.check import LimitError, limited

KINDS = (resource.RLIMIT_AS, resource.RLIMIT_CPU)


def test_memory() -> None:
    before = [resource.getrlimit(kind) for kind in KINDS]
    with pytest.raises(LimitError, match=r"^it takes more than 1 GiB of memory$"), limited(memory=1 << 30):
        bytes(2 << 30)
    assert [resource.getrlimit(kind) for kind in KINDS] == before


def test_processor_time() -> None:
    with pytest.raises(LimitError, match=r"^it takes more than 1 s of processor time$"), limited(seconds=1):
        all(count() for _ in repeat(None))


def count() -> int:
    return sum(range(1, 1000))


def test_what_stays_within_them() -> None:
    with limited():
        assert len(bytes(1 << 20)) == 1 << 20
