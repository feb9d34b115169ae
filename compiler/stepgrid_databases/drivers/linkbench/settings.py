"""Settings of a step of kind linkbench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from stepgrid.plugins.settings import (
    COUNT,
    DURATION,
    SIZE,
    ActionFields,
    ActionSettings,
    Count,
    InnerCount,
    Nested,
    Percent,
    Settings,
    WholeSeconds,
    check_mix,
    uses,
)
from stepgrid_databases.drivers.rate_settings import Arrivals, LatencyLimit, Rate
from stepgrid_databases.drivers.sysbench.lua_client import CLIENT

Operation = Literal[
    "addlink", "deletelink", "updatelink", "countlink", "getlink", "getlinklist", "getnode", "addnode", "updatenode",
    "deletenode",
]  # fmt: skip
Exponent = Annotated[float, Field(ge=0, lt=1)]

# the published mix of the original
MIX: Mapping[Operation, float] = {
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


class Popularity(Settings):
    """The uncorrelated part of reads and writes has an order of ids of its own; the rest prefers ids of many links."""

    read_exponent: Annotated[Exponent, Field(description="of the ids whose links are read")] = 0.8
    write_exponent: Annotated[Exponent, Field(description="of the ids whose links are written")] = 0.741
    node_read_exponent: Annotated[Exponent, Field(description="of the nodes that are read")] = 0.625
    node_update_exponent: Annotated[Exponent, Field(description="of the nodes that are updated")] = 0.606
    read_uncorrelated: Annotated[Percent, Field(description="percent of the reads of links")] = 99.5
    write_uncorrelated: Annotated[Percent, Field(description="percent of the writes of links")] = 95.0


class Multiget(Settings):
    probability: Annotated[float, Field(gt=0, lt=1, description="of the geometric distribution")] = 0.382
    most: Annotated[InnerCount, Field(le=1000, description="links")] = 128


class Lists(Settings):
    limit: Annotated[InnerCount, Field(description="links of a list at most")] = 10_000
    continued: Annotated[Percent, Field(description="percent of the lists that continue one that was cut off")] = 0.3


class LinkBenchSettings(ActionSettings):
    ACTIONS: ClassVar[Mapping[str, ActionFields]] = {
        "load": uses("ids", "loaders link_types link_size node_size table_options"),
        "request": uses(
            "ids duration", "requesters mix link_size node_size popularity multiget lists rate arrivals latency_limit"
        ),
        "check": uses(""),
    }

    action: Annotated[
        Literal["load", "request", "check"], Field(description="load the graph, send requests to it, or check it")
    ]
    ids: Annotated[
        Count | None, COUNT, Field(le=2**31 - 1, description="nodes of the graph that is loaded (maxid1)")
    ] = None
    loaders: Annotated[Count, COUNT, Field(description="clients that load")] = 1
    requesters: Annotated[Count, COUNT, Field(description="clients that send requests")] = 1
    duration: Annotated[WholeSeconds | None, DURATION, Field(description="how long requests are sent")] = None
    mix: Annotated[
        dict[Operation, Percent],
        AfterValidator(check_mix),
        Nested(),
        Field(description="percent of the requests by operation; one that is left out is not sent"),
    ] = Field(default_factory=lambda: dict(MIX))
    link_types: Annotated[Count, COUNT, Field(le=100, description="types of links")] = 2
    link_size: Annotated[
        Count, SIZE, Field(le=255, description="bytes of a link's data: the median of their sizes")
    ] = 23
    node_size: Annotated[
        Count, SIZE, Field(le=65_536, description="bytes of a node's data: the median of their sizes")
    ] = 168
    popularity: Annotated[
        Popularity, Nested(), Field(description="which ids are asked for how often: Zipf exponents, percentages")
    ] = Field(default_factory=Popularity)
    multiget: Annotated[
        Multiget, Nested(), Field(description="how many links a getlink asks for: geometric, from 1 to `most`")
    ] = Field(default_factory=Multiget)
    lists: Annotated[
        Lists, Nested(), Field(description="links of a list at most; percent of the lists that continue a longer one")
    ] = Field(default_factory=Lists)
    rate: Rate = None
    arrivals: Arrivals = None
    latency_limit: LatencyLimit = None
    table_options: Annotated[str, Field(description="what follows a CREATE TABLE, as row_format=compressed")] = ""
    client: Annotated[str, Field(min_length=1, description="the build of sysbench that runs it, by its name")] = CLIENT
