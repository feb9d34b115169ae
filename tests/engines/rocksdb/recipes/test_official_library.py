"""Libraries of a test's own, with a name or two of RocksDB's."""

import subprocess
from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.engines.rocksdb.recipes.official_library import library
from tests.build.compilers import needs_compiler

_CODE = """
#include <string>
namespace rocksdb {
struct Options {};
struct DB { static void Open(const Options&, const std::string&, DB**); };
void DB::Open(const Options&, const std::string&, DB**) {}
}
extern "C" int LZ4_compress_default() { return 0; }
"""
_NAMES = ("librocksdbjni-linux64.so", "librocksdbjni-linux-aarch64.so")


def compiled(folder: Path, abi: int) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "x.cc").write_text(_CODE)
    made = ["-shared", "-fPIC", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", str(folder / "x.cc")]
    subprocess.run(["c++", *made, "-o", str(folder / _NAMES[0])], check=True)
    (folder / _NAMES[1]).write_bytes((folder / _NAMES[0]).read_bytes())  # whichever this machine is
    return folder


@needs_compiler
@pytest.mark.parametrize("abi", [0, 1])
def test_what_a_library_was_made_for_is_in_its_names(tmp_path: Path, abi: int):
    found = library(compiled(tmp_path, abi))
    assert found.old_abi == (abi == 0)
    assert found.macros == ("LZ4",)
    assert not found.rtti


def test_none_for_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "librocksdbjni-osx.so").touch()
    monkeypatch.setattr("platform.machine", lambda: "loongarch64")
    with pytest.raises(BuildError) as error:
        library(tmp_path)
    assert str(error.value) == ("the artifact has no library for loongarch64; its libraries are: librocksdbjni-osx.so")
