"""Write stalls. RocksDB renamed the counters in 8.1; here they have one set of names."""

from __future__ import annotations

import re

from stepgrid.drivers.db_bench.parser.line import line

# since 8.1; the name before, with the meaning unchanged
_NAMES = {
    "l0-file-count-limit-delays": ("stall_l0_delays", "level0_slowdown"),
    "l0-file-count-limit-stops": ("stall_l0_stops", "level0_numfiles"),
    "memtable-limit-delays": ("stall_memtable_delays", "memtable_slowdown"),
    "memtable-limit-stops": ("stall_memtable_stops", "memtable_compaction"),
    "pending-compaction-bytes-delays": ("stall_pending_delays", "slowdown for pending_compaction_bytes"),
    "pending-compaction-bytes-stops": ("stall_pending_stops", "stop for pending_compaction_bytes"),
    "cf-l0-file-count-limit-delays-with-ongoing-compaction": (
        "stall_l0_compacting_delays",
        "level0_slowdown_with_compaction",
    ),
    "cf-l0-file-count-limit-stops-with-ongoing-compaction": (
        "stall_l0_compacting_stops",
        "level0_numfiles_with_compaction",
    ),
    "write-buffer-manager-limit-stops": ("stall_write_buffer_manager_stops", None),
}
_NEW = {new: name for new, (name, _) in _NAMES.items()}
_OLD = {old: name for name, old in _NAMES.values() if old}
_TOTALS = {
    "stall_delays": ("stall_l0_delays", "stall_memtable_delays", "stall_pending_delays"),
    "stall_stops": ("stall_l0_stops", "stall_memtable_stops", "stall_pending_stops"),
}

_OLD_LINE = line("Stalls(count): ", r"(.*), interval \d+ total count$")
_NEW_BEGINS = "\nWrite Stall (count): "
_NEW_LINE = re.compile(rf"{re.escape(_NEW_BEGINS)}(.*)$", re.MULTILINE)
_TIME = line("Cumulative stall: ", r"(\d+):(\d+):(\d+\.\d+) H:M:S, (\d+\.\d+) percent$")
_OLD_COUNT = re.compile(r"(?:^|, )(\d+) ([^,]+)")
_NEW_COUNT = re.compile(r"([a-z0-9-]++): (\d++)(?=[,\s]|$)")


def figures(text: str) -> dict[str, float]:
    return _with_totals(_old(text) or _new(text)) | _time(text)


def _old(text: str) -> dict[str, float]:
    last = _OLD_LINE.last(text)
    pairs = _OLD_COUNT.findall(last[1]) if last else ()
    return {_OLD[name]: float(count) for count, name in pairs if name in _OLD}


def _new(text: str) -> dict[str, float]:
    """Two lines a dump (the column family's, the database's). 8.1 ends neither: other text may follow on the line."""
    lines = f"\n{text}"
    start = lines.find(_NEW_BEGINS)
    pairs = _NEW_COUNT.findall(", ".join(_NEW_LINE.findall(lines, start))) if start >= 0 else ()
    return {_NEW[name]: float(count) for name, count in pairs if name in _NEW}


def _with_totals(counts: dict[str, float]) -> dict[str, float]:
    sums = {
        total: sum(counts[part] for part in parts)
        for total, parts in _TOTALS.items()
        if all(part in counts for part in parts)
    }
    both = {"stalls": sum(sums.values())} if len(sums) == len(_TOTALS) else {}
    return counts | sums | both


def _time(text: str) -> dict[str, float]:
    last = _TIME.last(text)
    if not last:
        return {}
    hours, minutes, seconds, percent = last.groups()
    return {"stall_seconds": 3600 * int(hours) + 60 * int(minutes) + float(seconds), "stall_pct": float(percent)}
