"""RocksDB in db_bench: nobody works off its debt while no step runs, so a run of db_bench that waits for it does.

A release that cannot wait is held open instead, by reads of one key, until its statistics show no compaction at work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from stepgrid.plugins.driver import Context, as_text

PROGRAM = "db_bench"
UNIVERSAL = "1"
SLOWLY = "benchmark_read_rate_limit"
READS = 10_000  # a second, a few percent of a core: db_bench asks for 256 at once, and a tenth of this is the most
LONGER = 3600  # seconds beyond the timeout: it is ended from outside


class Drain(NamedTuple):
    argv: tuple[str, ...]
    held: bool = False  # it does not end by itself


def drain(settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Drain:
    from stepgrid.plugins.registry import engine

    if PROGRAM not in context.programs:
        raise ValueError(f"it needs a server, or a build that has {PROGRAM}")
    known = engine("rocksdb").capabilities(context.version)
    held = not _waits(known, options)
    own = {"db": context.data.absolute(), "use_existing_db": "true", "num": 1}
    how = _held(settings, known) if held else _waiting(settings, known)
    flags = {**{name: as_text(value) for name, value in options.items()}, **how, **own}
    return Drain((*context.programs[PROGRAM], *(f"--{name}={value}" for name, value in flags.items())), held)


def _waits(known: frozenset[str], options: Mapping[str, Any]) -> bool:
    """Under universal compaction an early release may wait for ever: rocksdb issue 9275."""
    universal = str(options.get("compaction_style", "")) == UNIVERSAL
    return ("waitforcompaction_universal" if universal else "waitforcompaction") in known


def _waiting(settings: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """The statistics come first and last: what there was to do, and what is left."""
    return {"benchmarks": ",".join(["stats", *_flush(settings, known), "waitforcompaction", "stats"])}


def _held(settings: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """The statistics come every second, among the errors: the output of a program that is killed may lack its end."""
    often = {"threads": 1, "stats_per_interval": 1, "stats_interval_seconds": 1}
    slowly = {SLOWLY: READS} if SLOWLY in known else {}
    long = {"duration": int(settings["timeout"]) + LONGER}
    return {"benchmarks": ",".join([*_flush(settings, known), "readrandom"]), **often, **slowly, **long}


def _flush(settings: Mapping[str, Any], known: frozenset[str]) -> Iterator[str]:
    """Without it, a release flushes what its log holds when the database is opened."""
    if settings["flush"] and "flush" in known:
        yield "flush"
