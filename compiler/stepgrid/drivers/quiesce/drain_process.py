"""The program that works off an embedded engine's debt: started, looked at, and ended when the time is over."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from stepgrid.drivers.db_bench.engine_statistics import compaction_tables, read_count
from stepgrid.host.failure import tail
from stepgrid.host.processes.signals import die_with_parent
from stepgrid.plugins.server import IdleReading

OUTPUT, ERRORS = "drain.stdout", "drain.stderr"
TO_STOP = 10.0  # seconds between SIGTERM and SIGKILL
AT_WORK = "db_bench at work"
COMPACTED = "files being compacted"
TAIL = 65_536  # bytes of its errors: the last statistics, many times over


class DrainProcess:
    """`held`: it does not end by itself, what it prints says whether there is work left."""

    def __init__(self, argv: Sequence[str], held: bool, folder: Path) -> None:
        self._argv, self._held, self._folder = argv, held, folder
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with (self._folder / OUTPUT).open("wb") as out, (self._folder / ERRORS).open("wb") as errors:
            self._child = subprocess.Popen(
                list(self._argv), stdin=subprocess.DEVNULL, stdout=out, stderr=errors, preexec_fn=die_with_parent()
            )

    def seen(self) -> IdleReading:
        status = self._child.poll() if self._child else None
        if status:
            raise ChildProcessError(f"db_bench ended with status {status}: {self._said()}")
        if self._held:
            return self._compacted()
        return IdleReading(AT_WORK, 1.0 if self._child is None or status is None else 0.0, 0)

    def _compacted(self) -> IdleReading:
        """Until it has printed something nobody knows, and that is not quiet."""
        found = compaction_tables(tail(self._folder / ERRORS, TAIL)) if self._child is not None else ()
        files = found[-1].get("Sum", {}).get("Files", "") if found else ""
        at_work = read_count(files.partition("/")[2])
        return IdleReading(AT_WORK, 1.0, 0) if at_work is None else IdleReading(COMPACTED, at_work, 0)

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """A database that is killed in the middle of a compaction is whole: it was not finished, that is all."""
        try:
            yield
        finally:
            if self._child is not None and self._child.poll() is None:
                self._end(self._child)

    def _end(self, child: subprocess.Popen[bytes]) -> None:
        child.terminate()
        try:
            child.wait(TO_STOP)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()

    def _said(self) -> str:
        texts = [(self._folder / name).read_text(encoding="utf-8", errors="replace") for name in (ERRORS, OUTPUT)]
        lines = [line.strip() for text in texts for line in text.splitlines()[-3:] if line.strip()]
        return " / ".join(lines[:3]) or "it said nothing"
