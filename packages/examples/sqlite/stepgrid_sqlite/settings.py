"""What a step of kind sqlite may say."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from stepgrid.plugins.settings import COUNT, Count, Settings


class SqliteSettings(Settings):
    """Statements that SQLite's command runs, one after the other, each with its time."""

    sql: Annotated[tuple[str, ...], Field(min_length=1, description="the statements, without semicolons")]
    operations: Annotated[
        Count | None, COUNT, Field(description="rows or lookups that they come to; without it there is no `qps`")
    ] = None
