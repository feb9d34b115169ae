"""What a step of kind db_bench may say, apart from the engine's options."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError

from stepgrid.drivers.db_bench.benchmark_releases import known
from stepgrid.plugins.quantity import Quantity

Benchmark = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]+$"), AfterValidator(known)]
Positive = Annotated[int, Field(ge=1, strict=True)]
WholeSeconds = Annotated[float, Field(ge=1, multiple_of=1, strict=True)]


def _not_empty(benchmarks: tuple[str, ...]) -> tuple[str, ...]:
    if not benchmarks:
        raise PydanticCustomError("no_benchmark", "at least one benchmark is needed")
    return benchmarks


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    benchmarks: Annotated[
        tuple[Benchmark, ...],
        AfterValidator(_not_empty),
        Field(description="db_bench's benchmarks in order; the first is the one that is measured"),
    ]
    keys: Annotated[Positive, Quantity("count"), Field(description="keys of the database (--num)")]
    threads: Annotated[Positive, Quantity("count"), Field(description="client threads")] = 1
    duration: Annotated[
        WholeSeconds | None,
        Quantity("duration"),
        Field(description="how long a benchmark runs; without it, as many operations as there are keys"),
    ] = None
    reads: Annotated[
        Positive | None, Quantity("count"), Field(description="reads of each thread, where there is no duration")
    ] = None
    writes: Annotated[
        Positive | None, Quantity("count"), Field(description="writes of each thread; caps a load as well")
    ] = None
    write_rate: Annotated[
        Positive | None,
        Quantity("rate"),
        Field(description="limit on what is written in a second (--benchmark_write_rate_limit); a load obeys it too"),
    ] = None
    fresh: Annotated[bool, Field(strict=True, description="begin with an empty database")] = False
