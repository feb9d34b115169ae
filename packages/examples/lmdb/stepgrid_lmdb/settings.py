"""Settings of a step of kind lmdb."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stepgrid.plugins.settings import COUNT, DURATION, SIZE, Count, Settings, WholeSeconds


class LmdbSettings(Settings):
    workload: Annotated[Literal["load", "reads", "updates"], Field(description="what the step does")]
    keys: Annotated[Count, COUNT, Field(description="keys of the database")]
    value_size: Annotated[Count, SIZE, Field(description="bytes of a value")] = 100
    batch: Annotated[Count, COUNT, Field(description="operations of a transaction")] = 1
    duration: Annotated[WholeSeconds | None, DURATION, Field(description="how long it runs")] = None
