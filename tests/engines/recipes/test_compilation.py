"""What every compile does first and last, without an engine."""

import hashlib
import subprocess

import pytest

from stepgrid.build import apt
from stepgrid.build.apt import Mirror
from stepgrid.build.elf import SWITCHES, codegen, published_codegen, read_elf, strings
from stepgrid.build.error import BuildError
from stepgrid.build.recipe import require
from stepgrid.model.site import Site
from stepgrid_databases.engines.recipes import compilation
from stepgrid_databases.engines.recipes.compilation import development
from tests.build.compilers import needs_compiler
from tests.build.ordering import order
from tests.needs import needs


@pytest.mark.parametrize(
    ("tool", "package"), [("c++", "g++"), ("ninja", "ninja-build"), ("clang-16", "clang-16"), ("mvn", "maven")]
)
def test_a_missing_program_says_what_to_install(tmp_path, tool, package):
    with pytest.raises(BuildError) as error:
        require(order(tmp_path, {}, site=Site(tools={tool: "no-such-program"})), tool)
    assert str(error.value) == (
        f"there is no program no-such-program, which this build needs: install it (Debian package {package}), "
        "or name it under `tools:` in the site file"
    )


@pytest.fixture
def mirror(tmp_path, monkeypatch):
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
def test_headers_and_static_libraries_and_nothing_else(tmp_path):
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


@needs_compiler
def test_programs_stay_and_trees_go(tmp_path):
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


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\necho\n", b"\x7fELF\x01" + bytes(80), b"\x7fELF\x02\x01"])
def test_what_is_no_elf_file(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    assert read_elf(tmp_path / "x") is None


def compiled(folder, *flags):
    (folder / "x.c").write_text("int main(void) { return 0; }\n")
    subprocess.run(["cc", *flags, str(folder / "x.c"), "-o", str(folder / "x")], check=True)
    return folder / "x"


@needs_compiler
def test_the_last_option_counts(tmp_path):
    found = codegen(compiled(tmp_path, "-frecord-gcc-switches", "-O3", "-O1"))
    assert found["optimisation"] == "-O1"
    assert found["march"] != "unknown"
    assert found["compiler"] != "unknown"


@needs_compiler
def test_what_is_known_of_one_that_was_published(tmp_path):
    found = published_codegen(compiled(tmp_path, "-O2"))
    assert str(found["compiler"]).startswith("GCC ")
    assert (found["optimisation"], found["march"]) == ("as published", "as published")
