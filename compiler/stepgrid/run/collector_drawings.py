"""What collectors draw of what they wrote, when the steps of a stage are over: it takes time that belongs to none."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from stepgrid.host.failure import end_of_log, explaining_log
from stepgrid.host.processes.supervision import MissingError, Program, describe_exit, environment, supervise
from stepgrid.model.site import Site
from stepgrid.plugins.collector import DrawingCollector
from stepgrid.plugins.registry import COLLECTORS
from stepgrid.run.collectors import FOLDER, RECORD, note

SECONDS = 600.0  # for one drawing


def draw(folder: Path, site: Site) -> None:
    """`folder`: of the attempt."""
    for own, record in _drawn(folder.resolve()):
        warning = _draw(own, record, site)
        shutil.rmtree(own / "script", ignore_errors=True)
        if warning:
            note(own, _asked(record), warning, record["exit"])


def _drawn(folder: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Of those that ended well."""
    for path in sorted(folder.glob(f"steps/*/{FOLDER}/*/{RECORD}")):
        record = json.loads(path.read_text(encoding="utf-8"))
        kind = record.get("collector")
        if kind and not record["warning"] and isinstance(COLLECTORS.get(kind), DrawingCollector):
            yield path.parent, record


def _draw(folder: Path, record: Mapping[str, Any], site: Site) -> str | None:
    """Why there is no drawing."""
    kind, script = COLLECTORS.get(record["collector"]), folder / "script"
    assert isinstance(kind, DrawingCollector)
    script.mkdir()
    words = kind.script(site.tool(kind.tool), folder)
    try:
        ended = supervise(Program(words, environment({}), script), SECONDS)
    except MissingError as error:
        return str(error)
    if ended.exit or ended.overdue:
        said = end_of_log(explaining_log(script)).splitlines()[-1:]
        why = f"did not end within {SECONDS:g} s" if ended.overdue else describe_exit(ended.exit)
        return f"{' '.join(words[:2])} {why}{f': {said[0]}' if said else ''}"
    return kind.draw(script / "stdout", folder)


def _asked(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in record.items() if name not in ("exit", "warning")}
