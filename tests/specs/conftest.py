"""The posts, each compiled once."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from stepgrid.model.plan import Plan
from stepgrid.plan.assembly import Context, compile_spec

POSTS = Path(__file__).resolve().parents[2] / "specs" / "posts"
HOST = {"cpu": "a", "cores": 2, "memory": 2**33, "storage": {"filesystem": "ext4", "max_sectors_kb": 128}}


@pytest.fixture(scope="session")
def compiled() -> Callable[..., Plan]:
    @cache
    def plan(post: str, scale: str | None = None, sets: tuple[str, ...] = ()) -> Plan:
        return compile_spec(str(POSTS / f"{post}.yaml"), scale, HOST, context=Context(sets=sets))

    return plan
