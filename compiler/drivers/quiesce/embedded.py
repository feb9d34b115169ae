"""RocksDB in db_bench: nobody works off its debt while no step runs, so a run of db_bench that waits for it does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from compiler.drivers.protocol import Context

PROGRAM = "db_bench"
UNIVERSAL = "1"
NO_WAIT = "this RocksDB cannot be asked to wait for its compactions (it can from 6.19 on): its debt is left as it is"
HANGS = "waiting for compactions can hang under universal compaction before RocksDB 8.7: its debt is left as it is"


class Drain(NamedTuple):
    argv: tuple[str, ...]
    notes: tuple[str, ...]


def drain(settings: Mapping[str, Any], options: Mapping[str, Any], context: Context) -> Drain:
    """The statistics come first and last: what there was to do, and what is left."""
    from compiler.engines import engine

    if PROGRAM not in context.programs:
        raise ValueError(f"it needs a server, or a build that has {PROGRAM}")
    known = engine("rocksdb").capabilities(context.version)
    note = _cannot(known, options)
    names = ["stats", *_work(settings, known, note is None), "stats"]
    own = {"benchmarks": ",".join(names), "db": context.data.absolute(), "use_existing_db": "true", "num": 1}
    flags = {**{name: _text(value) for name, value in options.items()}, **own}
    argv = (*context.programs[PROGRAM], *(f"--{name}={value}" for name, value in flags.items()))
    return Drain(argv, (note,) if note else ())


def _cannot(known: frozenset[str], options: Mapping[str, Any]) -> str | None:
    if "waitforcompaction" not in known:
        return NO_WAIT
    universal = str(options.get("compaction_style", "")) == UNIVERSAL
    return HANGS if universal and "waitforcompaction_universal" not in known else None


def _work(settings: Mapping[str, Any], known: frozenset[str], waits: bool) -> Iterator[str]:
    if settings["flush"] and "flush" in known:
        yield "flush"
    if waits:
        yield "waitforcompaction"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
