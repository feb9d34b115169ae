"""What db_bench says of itself and its data before it begins. Some of it goes to stderr."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LINES = {
    "version": ("RocksDB:", r"\nRocksDB: +version (\S+)$"),
    "fork": ("Speedb:", r"\n(Speedb: +version \S+)$"),  # a count of its own: no release of RocksDB
    "compression": ("Compression:", r"\nCompression: (.+)$"),
    "memtablerep": ("Memtablerep:", r"\nMemtablerep: (.+)$"),
    "key_bytes": ("Keys:", r"\nKeys: +(\d+) bytes each"),
    "value_bytes": ("Values:", r"\nValues: +(\d+) bytes each"),
}
# where a text is not there at all, a plain look is done in half the time
_FACTS = {name: (f"\n{begins}", re.compile(line, re.MULTILINE)) for name, (begins, line) in _LINES.items()}
_WARNS = "WARNING: "
_WARNING = re.compile(rf"\n{_WARNS}(.+)$", re.MULTILINE)


def facts(stdout: str, stderr: str) -> dict[str, str]:
    text = f"\n{stderr}\n{stdout}"
    found = {name: line.search(text) if begins in text else None for name, (begins, line) in _FACTS.items()}
    return {name: " ".join(match[1].split()) for name, match in found.items() if match}


def release(facts: Mapping[str, str]) -> tuple[int, ...]:
    """Of `9.9.3` or `6.17`; () where it is not said."""
    parts = facts.get("version", "").split(".")
    return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else ()


def clients(text: str) -> int | None:
    """Published scripts print the command above its output."""
    if " --threads=" not in text:  # the search looks at every line
        return None
    found = re.search(r"^.*db_bench.* --threads=(\d+)\b", text, re.MULTILINE)
    return int(found[1]) if found else None


def warnings(*texts: str) -> tuple[str, ...]:
    """Each once, in order."""
    lines = (line for text in texts if _WARNS in text for line in _WARNING.findall(f"\n{text}"))
    return tuple(dict.fromkeys(line.strip() for line in lines))


def writer_note(facts: Mapping[str, str], write_rate: int | None) -> str:
    note = "includes the background writer, which qps does not"
    if not (write_rate and "key_bytes" in facts and "value_bytes" in facts):
        return note
    record = int(facts["key_bytes"]) + int(facts["value_bytes"])
    return f"{note}: at most {write_rate // record} operations/s ({write_rate} bytes/s, {record} bytes each)"
