"""ELF files: loader, architecture, compilers and their options, read from a binary.

The build system may not have done what it was asked for; the binary tells how it was compiled.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from stepgrid.model.plan import Json

SWITCHES = ".GCC.command.line"  # of -frecord-gcc-switches
UNREADABLE = "unknown"
_MACHINES = {3: "i386", 21: "ppc64", 22: "s390x", 40: "arm", 62: "amd64", 183: "arm64", 243: "riscv64", 258: "loong64"}
_INTERPRETER = 3  # PT_INTERP


class Elf(Struct, frozen=True):
    architecture: str
    interpreter: str | None  # none: a static program or a library
    compilers: tuple[str, ...]  # of the .comment section, sorted; empty when it was stripped

    @property
    def compiler(self) -> str:
        return " + ".join(self.compilers) or UNREADABLE


def read_elf(path: Path) -> Elf | None:
    """Read a 64-bit ELF file; None for any other file (a script, say)."""
    data = path.read_bytes()
    if data[:5] != b"\x7fELF\x02" or len(data) < 64:
        return None
    order = "<" if data[5] == 1 else ">"
    machine = struct.unpack_from(order + "H", data, 18)[0]
    try:
        compilers = tuple(sorted(_section_strings(data, order, b".comment")))
        return Elf(_MACHINES.get(machine, f"machine {machine}"), _interpreter(data, order), compilers)
    except (struct.error, IndexError):
        return None  # truncated


def strings(path: Path, section: str) -> tuple[str, ...]:
    """Return the distinct strings of a section: `.dynstr` holds the names that a library takes and gives."""
    data = path.read_bytes()
    return _section_strings(data, "<" if data[5] == 1 else ">", section.encode())


def codegen(path: Path) -> dict[str, Json]:
    """Return compiler, optimisation and -march for a build's quality; call it before the binary is stripped."""
    elf = read_elf(path)
    lines = strings(path, SWITCHES) if elf else ()
    return {
        "architecture": elf.architecture if elf else UNREADABLE,
        "compiler": elf.compiler if elf else UNREADABLE,
        "optimisation": _last_option(lines, r"-O(?:[0-3gsz]|fast)?"),
        "march": _last_option(lines, r"-march=(\S+)"),
    }


def published_codegen(path: Path) -> dict[str, Json]:
    """Return the quality of a published binary, by its newest compiler: older ones made its start-up code."""
    elf = read_elf(path)
    versions = [match[1] for text in elf.compilers if (match := re.search(r"(\d+\.\d+\.\d+)", text))] if elf else []
    newest = max(versions, key=lambda text: [int(part) for part in text.split(".")], default=None)
    return {
        "architecture": elf.architecture if elf else UNREADABLE,
        "compiler": f"GCC {newest}" if newest else UNREADABLE,
        "optimisation": "as published",
        "march": "as published",
    }


def _last_option(lines: Sequence[str], pattern: str) -> str:
    """Return the option that counts in each unit's line, which is its last; units may differ."""
    values = {words[-1] for line in lines if (words := re.findall(rf"(?<=\s){pattern}(?=\s|$)", line))}
    return " + ".join(sorted(values)) or UNREADABLE


def _section_strings(data: bytes, order: str, section: bytes) -> tuple[str, ...]:
    content = next((content for name, content in _sections(data, order) if name == section), b"")
    return tuple(dict.fromkeys(text.decode(errors="replace") for text in content.split(b"\0") if text))


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
