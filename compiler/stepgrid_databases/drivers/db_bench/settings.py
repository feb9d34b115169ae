"""Settings of a step of kind db_bench: everything but the engine's options."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from stepgrid.plugins.settings import COUNT, DURATION, Count, Flag, Quantity, Settings, WholeSeconds
from stepgrid_databases.drivers.db_bench.benchmarks import ALL_BENCHMARKS


def require_benchmark(name: str) -> str:
    """Refuse a name that no release has."""
    if name in ALL_BENCHMARKS:
        return name
    matches = get_close_matches(name, sorted(ALL_BENCHMARKS), n=1)
    nearest = f" (nearest: `{matches[0]}`)" if matches else ""
    raise PydanticCustomError("no_such_benchmark", "{why}", {"why": f"db_bench has no benchmark of this name{nearest}"})


def _require_one(benchmarks: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse a step without a benchmark."""
    if not benchmarks:
        raise PydanticCustomError("no_benchmark", "at least one benchmark is needed")
    return benchmarks


Benchmark = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]+$"), AfterValidator(require_benchmark)]


class DbBenchSettings(Settings):
    benchmarks: Annotated[
        tuple[Benchmark, ...],
        AfterValidator(_require_one),
        Field(description="db_bench's benchmarks in order; the first is the one that is measured"),
    ]
    keys: Annotated[Count, COUNT, Field(description="keys of the database (--num)")]
    threads: Annotated[Count, COUNT, Field(description="client threads")] = 1
    duration: Annotated[
        WholeSeconds | None,
        DURATION,
        Field(description="how long a benchmark runs; without it, as many operations as there are keys"),
    ] = None
    reads: Annotated[Count | None, COUNT, Field(description="reads of each thread, where there is no duration")] = None
    writes: Annotated[Count | None, COUNT, Field(description="writes of each thread; caps a load as well")] = None
    write_rate: Annotated[
        Count | None,
        Quantity("rate"),
        Field(description="limit on what is written in a second (--benchmark_write_rate_limit); a load obeys it too"),
    ] = None
    fresh: Annotated[Flag, Field(description="begin with an empty database")] = False
