"""What every compile does first and last, without an engine."""

from __future__ import annotations

import hashlib
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from stepgrid.build import apt, compilation
from stepgrid.build.apt import Mirror
from stepgrid.build.compilation import (
    Compile,
    Development,
    cmake_settings,
    code_flags,
    development,
    find_toolchain,
    move_installed,
    prepare,
    tree_root,
)
from stepgrid.build.elf import SWITCHES, Elf, codegen, published_codegen, read_elf, strings
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Material, require
from stepgrid.language.flags import Flags
from stepgrid.model.site import Site
from tests.build.compilers import needs_compiler
from tests.build.ordering import order
from tests.needs import needs

MARK = "include/x/version.h"


def tree(folder: Path) -> Path:
    (folder / MARK).parent.mkdir(parents=True)
    (folder / MARK).touch()
    return folder


@pytest.mark.parametrize("below", [".", "x", "a-crate-1.0/x"])
def test_the_tree_is_found_where_an_archive_has_it(tmp_path: Path, below: str):
    assert tree_root(tree(tmp_path / below), MARK, "x") == tmp_path / below
    assert tree_root(tmp_path, MARK, "x") == tmp_path / below


def test_the_outermost_counts(tmp_path: Path):
    tree(tmp_path / "bundled")
    assert tree_root(tree(tmp_path), MARK, "x") == tmp_path


def test_another_tree(tmp_path: Path):
    with pytest.raises(BuildError) as error:
        tree_root(tmp_path, MARK, "x")
    assert str(error.value) == "this is no source tree of x: it has no include/x/version.h"


def test_a_source_without_a_tree(tmp_path: Path):
    with pytest.raises(BuildError) as error:
        prepare(order(tmp_path, {"maven": "a:b:1"}), Material(prefix=tmp_path), MARK, ())
    assert str(error.value) == "the source brings no tree to compile snake from"


@needs_compiler
def test_what_fails_is_named_and_the_spec_has_the_last_word(tmp_path: Path):
    placed, flags = order(tmp_path, {}), Flags(environment={"WORD": "the spec's"})
    compiled = Compile(placed, tmp_path, flags, find_toolchain(placed, flags), Development(None))
    script = 'test "$WORD" = "the spec\'s"'
    compiled.run(["sh", "-c", script], tmp_path, {"WORD": "the recipe's"})
    with pytest.raises(BuildError, match=r"^sh failed; the end of the log says where$"):
        compiled.run(["sh", "-c", "exit 3"], tmp_path)
    with pytest.raises(BuildError, match=r"^no luck$"):
        compiled.run(["sh", "-c", "exit 3"], tmp_path, fault="no luck")


@needs_compiler
@needs("strip")
def test_what_is_left_of_an_installation(tmp_path: Path):
    placed = order(tmp_path / "build", {})
    compiled = Compile(placed, tmp_path, Flags(), find_toolchain(placed, Flags()), Development(None))
    for name in ("bin/x", "lib/x.a", "include/x.h"):
        (placed.folder / "staging" / name).parent.mkdir(parents=True)
        (placed.folder / "staging" / name).touch()
    subprocess.run(["cc", "-xc", "-", "-o", str(placed.folder / "staging/bin/x")], input=b"int main() {}", check=True)
    prefix = move_installed(compiled, placed.folder / "staging", ("bin", "lib"))
    assert sorted(str(path.relative_to(prefix)) for path in prefix.rglob("*")) == ["bin", "bin/x", "lib"]
    assert b".symtab" not in (prefix / "bin/x").read_bytes()


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


CACHE = """\
# a comment
//What it is for
WITH_LZ4:BOOL=ON
WITH_LZ4-ADVANCED:INTERNAL=1
NOT_WITH_IT:STRING=x
CMAKE_BUILD_TYPE:STRING=Release
WITH_NOTHING:STRING=
"""


def test_the_variables_that_matter(tmp_path: Path):
    (tmp_path / "CMakeCache.txt").write_text(CACHE)
    found = cmake_settings(tmp_path, re.compile("WITH_|CMAKE_BUILD_TYPE"))
    assert found == {"configured": {"WITH_LZ4": "ON", "CMAKE_BUILD_TYPE": "Release", "WITH_NOTHING": ""}}


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real mirror on disk with one package: a header, a header of the platform's own, a library in both forms."""
    arch = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
    made, root = tmp_path / "made", tmp_path / "mirror"
    for name in (
        "include/x.h",
        "include/some-linux-gnu/own.h",
        "lib/some-linux-gnu/libx.a",
        "lib/some-linux-gnu/libx.so",
    ):
        (made / "usr" / name).parent.mkdir(parents=True, exist_ok=True)
        (made / "usr" / name).write_text(name)
    (made / "DEBIAN").mkdir()
    fields = f"Package: libx-dev\nVersion: 1:2.0\nArchitecture: {arch}\nMaintainer: x <x@example.org>\n"
    (made / "DEBIAN" / "control").write_text(f"{fields}Depends: what-nobody-has\nDescription: x\n")
    root.mkdir()
    package = root / f"libx-dev_2.0_{arch}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", str(made), str(package)], check=True, capture_output=True)
    data = package.read_bytes()
    index = f"{fields}Filename: {package.name}\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n"
    packages = root / f"dists/one/main/binary-{arch}/Packages"
    packages.parent.mkdir(parents=True)
    packages.write_text(index)
    listed = f" {hashlib.sha256(index.encode()).hexdigest()} {len(index)} main/binary-{arch}/Packages\n"
    release = f"Suite: one\nCodename: one\nDate: Fri, 20 Nov 2026 00:00:00 UTC\nArchitectures: {arch}\n"
    (root / "dists/one/Release").write_text(f"{release}Components: main\nSHA256:\n{listed}")
    found = Mirror(f"copy:{root}", ("one",), ("main",), (("trusted", "yes"),))
    monkeypatch.setattr(apt, "configured_mirrors", lambda: (found,))


@needs("apt-get", "dpkg-deb")
@pytest.mark.usefixtures("mirror")
def test_headers_and_static_libraries_and_nothing_else(tmp_path: Path):
    found = development(order(tmp_path / "build", {}), ["libx-dev"], "one")
    assert found.folder == tmp_path / "build" / "devel"
    files = sorted(str(path.relative_to(found.folder)) for path in found.folder.rglob("*") if path.is_file())
    assert files == ["include/own.h", "include/x.h", "lib/libx.a"]
    assert [(artifact.name, artifact.version) for artifact in found.artifacts] == [("libx-dev", "1:2.0")]
    assert sorted(path.name for path in (tmp_path / "build").iterdir()) == ["build.log", "devel", "tmp"]
    assert found.search(tmp_path / "build" / "tree" / "rocksdb") == {
        "CPATH": "../../devel/include",
        "LIBRARY_PATH": "../../devel/lib",
    }


def test_those_of_the_machine(tmp_path: Path):
    found = development(order(tmp_path, {}), ["libx-dev"], "system")
    assert found == Development(None)
    assert found.search(tmp_path) == {}
    assert (tmp_path / "build.log").read_text() == "of the machine itself: libx-dev\n"


def test_a_machine_that_is_no_debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert development(order(tmp_path, {}), ["libx-dev"]) == Development(None)


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
