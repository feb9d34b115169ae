"""Settings of a step of kind quiesce."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from stepgrid.plugins.settings import DURATION, Flag, Quantity, Seconds, ServerSettings

Percent = Annotated[float, Field(ge=0, le=100, strict=True), Quantity("percent")]
Rate = Annotated[int, Field(ge=0, strict=True), Quantity("rate")]


class Settings(ServerSettings):
    timeout: Annotated[
        Seconds, DURATION, Field(description="how long it waits; then it goes on, and the step says what was not quiet")
    ] = 1200.0
    quiet: Annotated[Seconds, DURATION, Field(description="how long everything must be idle without a break")] = 5.0
    flush: Annotated[Flag, Field(description="asks for it: memtables, dirty pages, a checkpoint")] = True
    analyze: Annotated[Flag, Field(description="brings the optimizer's statistics up to date; vacuums Postgres")] = True
    device_busy: Annotated[
        Percent, Field(description="percent of the time that an idle device may be at work for somebody else")
    ] = 5.0
    device_writes: Annotated[Rate, Field(description="bytes a second that may be written to an idle device")] = 2**20
