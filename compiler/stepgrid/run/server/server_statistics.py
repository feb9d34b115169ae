"""What a server says of itself before and after a step, outside what is measured: kept in the step's folder.

Nothing that is wrong with it fails a step: it is a warning with its figures.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from stepgrid.host.files import write_json
from stepgrid.plugins.server import Connection, ServerEngine, ServerStatistics, StatisticsReader
from stepgrid.run.server.server_handle import ReachedServer

FOLDER = "statistics"
BEFORE, AFTER = "before", "after"
ALLOWED = 60.0  # seconds: one that is halted never answers


class _Read(NamedTuple):
    told: dict[str, ServerStatistics]
    refused: dict[str, str]  # look -> why
    lacking: dict[str, str]  # look -> what the server does not have, as a sentence


def keep(engine: ServerEngine, server: ReachedServer, step: Path, when: str) -> None:
    """FOLDER/WHEN.json has the numbers, FOLDER/WHEN/ what is for people."""
    began, name = time.monotonic(), step.name.partition("-")[2]
    read = _in_time(engine, server, when)
    server.warnings.extend(f"{name}: {sentence}" for sentence in _sentences(read, when))
    server.warnings.extend(sentence for sentence in read.lacking.values() if sentence not in server.warnings)
    try:
        _write(read, step / FOLDER, when, time.monotonic() - began)
    except OSError as error:
        server.warnings.append(f"{name}: the statistics {when} it could not be kept: {error.strerror}")


def _sentences(read: _Read, when: str) -> Iterator[str]:
    for look, why in read.refused.items():
        yield f"the server's {look} {when} it could not be read: {why}"


def _in_time(engine: ServerEngine, server: ReachedServer, when: str) -> _Read:
    """In a thread, which is left alone with a server that does not answer."""
    read = _Read({}, {}, {})
    allowed = float(os.environ.get("STEPGRID_STATISTICS") or ALLOWED)
    thread = Thread(target=_asked, args=(engine, server, when, read), daemon=True)
    thread.start()
    thread.join(allowed)
    late = {"statistics": f"it did not answer within {allowed:g} s"} if thread.is_alive() else {}
    return _Read(dict(read.told), {**read.refused, **late}, dict(read.lacking))


def _asked(engine: ServerEngine, server: ReachedServer, when: str, read: _Read) -> None:
    try:
        connection = engine.connect(server.access)
    except Exception as error:  # of each client its own
        read.refused["statistics"] = _said(error)
        return
    try:
        for look in _ordered(engine, connection, when):
            _take(look, read)
    except Exception as error:
        read.refused["statistics"] = _said(error)
    finally:
        with suppress(Exception):
            connection.close()


def _ordered(engine: ServerEngine, connection: Connection, when: str) -> list[StatisticsReader]:
    looks = list(engine.looks(connection))
    return [look for look in looks if not look.after_only] if when == BEFORE else looks[::-1]


def _take(look: StatisticsReader, read: _Read) -> None:
    try:
        read.told[look.name] = look.read()
    except LookupError as error:
        read.lacking[look.name] = _said(error)
    except Exception as error:
        read.refused[look.name] = _said(error)


def _said(error: Exception) -> str:
    """The clients' libraries put a number before the server's own words."""
    words = [str(word) for word in error.args if isinstance(word, str)]
    return " ".join((words[-1] if words else str(error) or type(error).__name__).split())


def _write(read: _Read, folder: Path, when: str, seconds: float) -> None:
    texts = {name: told.text for name, told in read.told.items() if told.text}
    (folder / when).mkdir(parents=True)
    for name, text in texts.items():
        (folder / when / f"{name}.txt").write_text(text, encoding="utf-8")
    numbers = {
        kind: {name: value for told in read.told.values() for name, value in getattr(told, kind).items()}
        for kind in ("counters", "gauges", "sizes", "garbage", "work", "state")
    }
    levels = [told.levels for told in read.told.values() if told.levels is not None]
    rows = {"objects": [*_objects(read)], **({"levels": [*chain(*levels)]} if levels else {})}
    refused = {**read.refused, **read.lacking}
    write_json(
        folder / f"{when}.json", {"seconds": round(seconds, 4), **numbers, **rows, "refused": refused}, durable=False
    )


def _objects(read: _Read) -> Iterator[Mapping[str, str | float]]:
    """What an engine does not know of one is left out."""
    for each in (each for told in read.told.values() for each in told.objects):
        yield {name: value for name, value in each._asdict().items() if value is not None}
