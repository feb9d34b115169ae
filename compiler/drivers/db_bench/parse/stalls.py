"""Write stalls. RocksDB renamed the counters in 8.1; here they have one set of names."""

from __future__ import annotations

import re

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

_OLD_LINE = re.compile(r"\nStalls\(count\): (.*), interval \d+ total count$", re.MULTILINE)
_NEW_LINE = re.compile(r"\nWrite Stall \(count\): (.*)$", re.MULTILINE)
_TIME = re.compile(r"\nCumulative stall: (\d+):(\d+):(\d+\.\d+) H:M:S, (\d+\.\d+) percent$", re.MULTILINE)


def figures(text: str) -> dict[str, float]:
    return _with_totals(_old(text) or _new(text)) | _time(text)


def _old(text: str) -> dict[str, float]:
    lines = _OLD_LINE.findall(f"\n{text}")
    pairs = re.findall(r"(?:^|, )(\d+) ([^,]+)", lines[-1]) if lines else ()
    return {_OLD[name]: float(count) for count, name in pairs if name in _OLD}


def _new(text: str) -> dict[str, float]:
    """Two lines a dump (the column family's, the database's). 8.1 ends neither: other text may follow on the line."""
    pairs = re.findall(r"([a-z0-9-]+): (\d+)(?=[,\s]|$)", ", ".join(_NEW_LINE.findall(f"\n{text}")))
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
    found = _TIME.findall(f"\n{text}")
    if not found:
        return {}
    hours, minutes, seconds, percent = found[-1]
    return {"stall_seconds": 3600 * int(hours) + 60 * int(minutes) + float(seconds), "stall_pct": float(percent)}
