"""What a step of kind linkbench may say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from stepgrid.plugins.quantity import Nested
from stepgrid.plugins.settings import COUNT, DURATION, SIZE, ActionFields, ActionSettings, Count, WholeSeconds, uses

Operation = Literal[
    "addlink", "deletelink", "updatelink", "countlink", "getlink", "getlinklist", "getnode", "addnode", "updatenode",
    "deletenode",
]  # fmt: skip
Percent = Annotated[float, Field(ge=0, le=100)]
ROUNDING = 0.01  # the published mixes have 5 to 7 decimals

# the published mix of the original
MIX: Mapping[Operation, float] = MappingProxyType(
    {
        "addlink": 8.9886601,
        "deletelink": 2.9907664,
        "updatelink": 8.0122125,
        "countlink": 4.8863567,
        "getlink": 0.5261142,
        "getlinklist": 50.7119145,
        "getnode": 12.9326683,
        "addnode": 2.5732789,
        "updatenode": 7.366437,
        "deletenode": 1.0115914,
    }
)

ACTIONS: Mapping[str, ActionFields] = MappingProxyType(
    {
        "load": uses("ids", "loaders link_size node_size table_options"),
        "request": uses("ids duration", "requesters mix link_size node_size"),
    }
)


def _whole(mix: dict[Operation, float]) -> dict[Operation, float]:
    total = math.fsum(mix.values())
    if abs(total - 100) > ROUNDING:
        raise PydanticCustomError("mix", "the mix sums to {total}, not to 100", {"total": f"{total:.7g}"})
    return mix


class Settings(ActionSettings):
    ACTIONS: ClassVar[Mapping[str, ActionFields]] = ACTIONS

    action: Annotated[Literal["load", "request"], Field(description="load the graph, or send requests to it")]
    ids: Annotated[Count | None, COUNT, Field(description="nodes of the graph that is loaded (maxid1)")] = None
    loaders: Annotated[Count, COUNT, Field(description="clients that load")] = 1
    requesters: Annotated[Count, COUNT, Field(description="clients that send requests")] = 1
    duration: Annotated[WholeSeconds | None, DURATION, Field(description="how long requests are sent")] = None
    mix: Annotated[
        dict[Operation, Percent],
        AfterValidator(_whole),
        Nested(),
        Field(description="percent of the requests by operation; one that is left out is not sent"),
    ] = Field(default_factory=lambda: dict(MIX))
    link_size: Annotated[Count, SIZE, Field(description="bytes of a link's data")] = 23
    node_size: Annotated[Count, SIZE, Field(description="bytes of a node's data")] = 168
    table_options: Annotated[str, Field(description="what follows a CREATE TABLE, as row_format=compressed")] = ""
