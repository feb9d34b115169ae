"""What an ELF file says: the loader that it asks for, its architecture, its compilers and their options."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_MACHINES = {3: "i386", 21: "ppc64", 22: "s390x", 40: "arm", 62: "amd64", 183: "arm64", 243: "riscv64", 258: "loong64"}
_INTERPRETER = 3  # PT_INTERP
SWITCHES = ".GCC.command.line"  # of -frecord-gcc-switches


@dataclass(frozen=True, slots=True)
class Elf:
    architecture: str
    interpreter: str | None  # none: a static program or a library
    compilers: tuple[str, ...]  # of the .comment section, sorted; empty when it was stripped

    @property
    def compiler(self) -> str:
        return " + ".join(self.compilers) or "unknown"


def read_elf(path: Path) -> Elf | None:
    """None when the file is no 64-bit ELF file (a script, say)."""
    data = path.read_bytes()
    if data[:5] != b"\x7fELF\x02" or len(data) < 64:
        return None
    order = "<" if data[5] == 1 else ">"
    machine = struct.unpack_from(order + "H", data, 18)[0]
    try:
        return Elf(_MACHINES.get(machine, f"machine {machine}"), _interpreter(data, order), comments(data, order))
    except (struct.error, IndexError):
        return None  # truncated


def comments(data: bytes, order: str) -> tuple[str, ...]:
    """The strings of .comment: each compiler that made a part of the file, once."""
    return tuple(sorted(_strings(data, order, b".comment")))


def strings(path: Path, section: str) -> tuple[str, ...]:
    """The strings of a section, each once: `.dynstr` holds the names that a library takes and gives."""
    data = path.read_bytes()
    return _strings(data, "<" if data[5] == 1 else ">", section.encode())


def _strings(data: bytes, order: str, section: bytes) -> tuple[str, ...]:
    found = next((content for name, content in _sections(data, order) if name == section), b"")
    return tuple(dict.fromkeys(text.decode(errors="replace") for text in found.split(b"\0") if text))


def _interpreter(data: bytes, order: str) -> str | None:
    table = struct.unpack_from(order + "Q", data, 32)[0]
    size, count = struct.unpack_from(order + "HH", data, 54)
    for start in range(table, table + size * count, size):
        kind, _, offset, _, _, length = struct.unpack_from(order + "IIQQQQ", data, start)
        if kind == _INTERPRETER:
            return data[offset : offset + length].rstrip(b"\0").decode()
    return None


def _sections(data: bytes, order: str) -> Iterator[tuple[bytes, bytes]]:
    table = struct.unpack_from(order + "Q", data, 40)[0]
    size, count, names_at = struct.unpack_from(order + "HHH", data, 58)
    rows = [struct.unpack_from(order + "IIQQQQ", data, table + size * index) for index in range(count)]
    names = rows[names_at][4] if rows else 0
    for name, _, _, _, offset, length in rows:
        yield data[names + name : data.index(b"\0", names + name)], data[offset : offset + length]
