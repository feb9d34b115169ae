"""Settings of a step of kind quiesce."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from stepgrid.plugins.settings import DURATION, Flag, Seconds, ServerSettings


class QuiesceSettings(ServerSettings):
    timeout: Annotated[
        Seconds, DURATION, Field(description="how long it waits; then it goes on, and the step says what was not quiet")
    ] = 1200.0
    quiet: Annotated[Seconds, DURATION, Field(description="how long everything must be idle without a break")] = 5.0
    flush: Annotated[Flag, Field(description="asks for it: memtables, dirty pages, a checkpoint")] = True
    analyze: Annotated[Flag, Field(description="brings the optimizer's statistics up to date; vacuums Postgres")] = True
