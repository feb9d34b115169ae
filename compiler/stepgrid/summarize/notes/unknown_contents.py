"""Results that were measured before stepgrid kept the checksums of the files that commands read: how many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stepgrid.model.units import counted
from stepgrid.summarize.data.parquet_reader import Run


def sentences(unknown: Mapping[str, Mapping[str, str]], runs: Sequence[Run]) -> Iterator[str]:
    """One for all of them. `unknown`: stage/time -> the files."""
    reported = {f"{run.place[0]}/{run.attempt}" for run in runs if run.attempt}
    there = [files["files"] for subject, files in unknown.items() if subject in reported]
    if there:
        names = list(dict.fromkeys(name for each in there for name in each.split(", ")))
        shown = f"{', '.join(names[:3])}{' and others' if len(names) > 3 else ''}"
        yield (
            f"{counted(len(there), 'result')} of unknown file contents: measured before checksums of {shown} "
            "were kept; `stepgrid redo` measures again"
        )
