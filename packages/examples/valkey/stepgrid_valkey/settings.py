"""What a step of kind valkey_benchmark may say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from stepgrid.plugins.settings import COUNT, SIZE, Count, Settings

Test = Literal["set", "get", "incr", "lpush", "rpush", "lpop", "rpop", "sadd", "hset", "spop", "zadd", "mset"]


class ValkeySettings(Settings):
    """valkey-benchmark: one of its tests against the server of the stage."""

    test: Annotated[Test, Field(description="which of its tests")]
    requests: Annotated[Count, COUNT, Field(description="of all clients together")]
    keys: Annotated[Count, COUNT, Field(description="each request takes one of so many keys, at random")]
    size: Annotated[Count, SIZE, Field(description="of a value")] = 100
    clients: Annotated[Count, COUNT, Field(description="connections")] = 16
    threads: Annotated[Count, COUNT, Field(description="of the client")] = 1
    pipeline: Annotated[Count, COUNT, Field(description="requests that a connection sends before it waits")] = 1
