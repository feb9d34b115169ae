from pathlib import Path

import pytest

from stepgrid.build import compilation
from stepgrid.build.elf import SWITCHES, strings
from stepgrid.build.error import BuildError
from stepgrid.model.site import Site
from tests.build.compilation.test_compiler_options import compiled
from tests.build.compilers import needs_compiler
from tests.build.ordering import order


@needs_compiler
def test_programs_stay_and_trees_go(tmp_path: Path):
    (tmp_path / "tree").mkdir()
    program = compiled(tmp_path / "tree", "-frecord-gcc-switches", "-g")
    library = tmp_path / "tree" / "libx.so"
    library.write_bytes(program.read_bytes())
    before = program.stat().st_size
    kept = compilation.keep_programs(order(tmp_path, {}), {"bench": program}, [library], strip_libraries=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "build.log", "lib"]
    assert (kept.programs, kept.stripped) == ({"bench": ("bin/bench",)}, True)
    assert (tmp_path / "bin" / "bench").stat().st_size < before
    assert (tmp_path / "lib" / "libx.so").stat().st_size == before
    assert strings(tmp_path / "bin" / "bench", SWITCHES) == ()


def test_without_binutils_the_symbols_stay(tmp_path: Path):
    (tmp_path / "x").write_text("#!/bin/sh\n")
    kept = compilation.keep_programs(order(tmp_path, {}, site=Site(tools={"strip": "no-strip"})), {"x": tmp_path / "x"})
    assert (kept.stripped, kept.bytes) == (False, 10)
    assert "no program strip" in (tmp_path / "build.log").read_text()


def test_a_program_that_the_compile_did_not_leave(tmp_path: Path):
    with pytest.raises(BuildError) as error:
        compilation.keep_programs(order(tmp_path, {}), {"x": tmp_path / "tree" / "x"})
    assert str(error.value) == "the compile ended well and left no tree/x"
