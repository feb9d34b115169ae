from pathlib import Path

import pytest

from stepgrid.build.compilation import code_flags, find_toolchain
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import require
from stepgrid.language.flags import Flags
from stepgrid.model.site import Site
from tests.build.compilers import needs_compiler
from tests.build.ordering import order


def script(path: Path, says: str) -> str:
    path.write_text(f"#!/bin/sh\necho '{says}'\n")
    path.chmod(0o755)
    return str(path)


@needs_compiler
def test_versions_of_all_that_compiles_are_recorded(tmp_path: Path):
    tools = {
        "ccache": script(tmp_path / "ccache", "ccache version 4.7.5"),
        "make": script(tmp_path / "m", "GNU Make 4"),
    }
    found = find_toolchain(
        order(tmp_path / "build", {}, site=Site(tools=tools)), Flags(environment={"TZ": "CET"}), "make"
    )
    assert found["make"] == str(tmp_path / "m")
    assert found.versions.keys() == {"cc", "c++", "make", "ccache"}
    assert (found.versions["make"], found.versions["ccache"]) == ("GNU Make 4", "ccache version 4.7.5")
    assert found.launched_cxx == f"{tmp_path / 'ccache'} {found.cxx}"
    assert found.cmake_launcher[1] == f"-DCMAKE_CXX_COMPILER_LAUNCHER={tmp_path / 'ccache'}"
    assert found.environment["CCACHE_BASEDIR"] == str(tmp_path / "build")
    assert found.environment["TZ"] == "CET"


@needs_compiler
def test_without_ccache(tmp_path: Path):
    found = find_toolchain(order(tmp_path, {}, site=Site(tools={"ccache": "no-such-ccache"})), Flags())
    assert (found.ccache, found.launched_cc, found.cmake_launcher) == (None, found.cc, ())
    assert "CCACHE_BASEDIR" not in found.environment


@pytest.mark.parametrize(
    ("tool", "package"), [("c++", "g++"), ("ninja", "ninja-build"), ("clang-16", "clang-16"), ("mvn", "maven")]
)
def test_a_missing_program_says_what_to_install(tmp_path: Path, tool: str, package: str):
    with pytest.raises(BuildError) as error:
        require(order(tmp_path, {}, site=Site(tools={tool: "no-such-program"})), tool)
    assert str(error.value) == (
        f"there is no program no-such-program, which this build needs: install it (Debian package {package}), "
        "or name it under `tools:` in the site file"
    )


def test_a_declared_compiler_is_the_one(tmp_path: Path):
    compiler = script(tmp_path / "c", "mine 1.0")
    found = find_toolchain(order(tmp_path / "build", {}), Flags(cc=compiler, cxx=compiler))
    assert (found.cc, found.versions["c++"]) == (compiler, "mine 1.0")


def test_what_a_binary_says_of_itself_but_its_folder(tmp_path: Path):
    flags = code_flags(order(tmp_path, {}), Flags(march="x86-64-v2"))
    assert flags == ("-frecord-gcc-switches", f"-ffile-prefix-map={tmp_path}=.", "-march=x86-64-v2")
