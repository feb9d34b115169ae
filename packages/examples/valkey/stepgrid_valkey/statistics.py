"""What a server says of itself by `INFO`: counters, which only grow, and gauges."""

from __future__ import annotations

from collections.abc import Iterator

from stepgrid.model.figures import DATA_BYTES
from stepgrid.plugins.server import Connection, IdleReading, ServerStatistics, StatisticsReader, split_gauges
from stepgrid_valkey.connection import ValkeyConnection

COUNTING = ("stats", "cpu", "commandstats")  # sections whose numbers grow, but for the gauges
STANDING = ("clients", "memory", "persistence", "keyspace")
GAUGES = ("instantaneous_*", "current_*", "latest_*", "tracking_*", "pubsub*", "*_perc", "*_per_call", "*_per_sec",
          "slave_expires_*", "migrate_cached_sockets")  # fmt: skip
BUSY = ("loading", "rdb_bgsave_in_progress", "aof_rewrite_in_progress", "lazyfree_pending_objects")


def own(connection: Connection) -> ValkeyConnection:
    assert isinstance(connection, ValkeyConnection)
    return connection


def numbers(connection: Connection, sections: tuple[str, ...]) -> dict[str, float]:
    return dict(_numbers(str(own(connection).command("INFO", *sections))))


def _numbers(info: str) -> Iterator[tuple[str, float]]:
    """`name:7` is one; `cmdstat_get:calls=7,usec=9` are two."""
    for line in info.splitlines():
        name, colon, value = line.partition(":")
        for part in value.split(",") if colon else ():
            key, equals, number = part.rpartition("=")
            try:
                yield f"{name}.{key}" if equals else name, float(number)
            except ValueError:
                continue  # a text


def look(connection: Connection) -> StatisticsReader:
    def read() -> ServerStatistics:
        told, standing = split_gauges(numbers(connection, COUNTING), GAUGES), numbers(connection, STANDING)
        sizes = {DATA_BYTES: standing["used_memory_dataset"]} if "used_memory_dataset" in standing else {}
        return ServerStatistics(told.counters, {**told.gauges, **standing}, sizes)

    return StatisticsReader("INFO", read)


def busy(connection: Connection) -> list[IdleReading]:
    """What goes on beside the commands of clients."""
    seen = numbers(connection, STANDING)
    return [IdleReading(name.replace("_", " "), seen[name], 0.0) for name in BUSY if name in seen]
