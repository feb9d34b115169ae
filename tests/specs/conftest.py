"""Shipped specs, each compiled once."""

from functools import cache
from pathlib import Path

import pytest

from stepgrid.plan.assembly import CompileContext, compile_spec

SPECS = Path(__file__).resolve().parents[2] / "specs"
HOST = {"cpu": "a", "cores": 2, "memory": 2**33, "storage": {"filesystem": "ext4", "max_sectors_kb": 128}}


@cache
def shipped_plan(path, scale=None, sets=()):
    return compile_spec(str(path), scale, HOST, context=CompileContext(sets=sets))


@pytest.fixture(scope="session")
def compiled():
    def plan(post, scale=None, sets=()):
        return shipped_plan(SPECS / "posts" / f"{post}.yaml", scale, sets)

    return plan
