from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.build.elf import Elf, codegen, published_codegen, read_elf
from tests.build.compilers import needs_compiler


def elf(comment: bytes, order: str = "<", machine: int = 183, interpreter: bytes = b"/lib/ld.so\0") -> bytes:
    """A file with a program header and three sections: none, the names, .comment."""
    names = b"\0.shstrtab\0.comment\0"
    at = 64 + 56
    parts = interpreter + names + comment
    table = at + len(parts)
    head = b"\x7fELF\x02" + (b"\x01" if order == "<" else b"\x02") + b"\x01" + bytes(9)
    head += struct.pack(order + "HHIQQQIHHHHHH", 3, machine, 1, 0, 64, table, 0, 64, 56, 1, 64, 3, 1)
    program = struct.pack(order + "IIQQQQQQ", 3, 4, at, 0, 0, len(interpreter), len(interpreter), 1)
    rows = [(0, 0, 0), (1, at + len(interpreter), len(names)), (11, at + len(interpreter + names), len(comment))]
    sections = [
        struct.pack(order + "IIQQQQIIQQ", name, 1, 0, 0, offset, size, 0, 0, 1, 0) for name, offset, size in rows
    ]
    return head + program + parts + b"".join(sections)


@pytest.mark.parametrize("order", ["<", ">"])
def test_every_compiler_once(tmp_path: Path, order: str):
    path = tmp_path / "x"
    path.write_bytes(elf(b"GCC: (Debian 12) 12.2.0\0clang version 14\0GCC: (Debian 12) 12.2.0\0", order))
    assert read_elf(path) == Elf("arm64", "/lib/ld.so", ("GCC: (Debian 12) 12.2.0", "clang version 14"))
    assert read_elf(path).compiler == "GCC: (Debian 12) 12.2.0 + clang version 14"


def test_stripped_is_unknown(tmp_path: Path):
    (tmp_path / "x").write_bytes(elf(b"", machine=62))
    assert read_elf(tmp_path / "x").compiler == "unknown"
    assert read_elf(tmp_path / "x").architecture == "amd64"


def test_no_sections(tmp_path: Path):
    content = elf(b"GCC")
    (tmp_path / "x").write_bytes(content[:58] + bytes(6) + content[64:])
    assert read_elf(tmp_path / "x").compilers == ()


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\necho\n", b"\x7fELF\x01" + bytes(80), elf(b"x")[:100]])
def test_what_is_no_elf_file(tmp_path: Path, content: bytes):
    (tmp_path / "x").write_bytes(content)
    assert read_elf(tmp_path / "x") is None


def test_a_real_program():
    found = read_elf(Path(sys.executable).resolve())
    assert found is not None
    assert found.interpreter is not None
    assert Path(found.interpreter).exists()


def compiled(folder: Path, *flags: str) -> Path:
    (folder / "x.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", *flags, str(folder / "x.c"), "-o", str(folder / "x")], check=True)
    return folder / "x"


@needs_compiler
def test_the_last_option_counts(tmp_path: Path):
    found = codegen(compiled(tmp_path, "-frecord-gcc-switches", "-O3", "-O1"))
    assert found["optimisation"] == "-O1"
    assert found["march"] != "unknown"
    assert found["compiler"] != "unknown"


@needs_compiler
def test_a_binary_that_does_not_say(tmp_path: Path):
    found = codegen(compiled(tmp_path, "-O2"))
    assert (found["optimisation"], found["march"]) == ("unknown", "unknown")


def test_no_binary(tmp_path: Path):
    (tmp_path / "x").write_text("#!/bin/sh\n")
    assert set(codegen(tmp_path / "x").values()) == {"unknown"}


@needs_compiler
def test_what_is_known_of_one_that_was_published(tmp_path: Path):
    found = published_codegen(compiled(tmp_path, "-O2"))
    assert str(found["compiler"]).startswith("GCC ")
    assert (found["optimisation"], found["march"]) == ("as published", "as published")
