import subprocess
from pathlib import Path

from stepgrid.build.elf import codegen, published_codegen
from tests.build.compilers import needs_compiler


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
