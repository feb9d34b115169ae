import subprocess
from pathlib import Path

import pytest

from stepgrid.build.apt import merge_usr, relink, unpack_packages
from stepgrid.build.commands import Commands
from stepgrid.build.error import BuildError
from tests.needs import needs

debian = needs("dpkg-deb")


def test_files_of_an_unmerged_suite_end_in_usr(tmp_path: Path):
    """As bullseye's libc: files in /lib, an absolute link to the loader, relative links between the two trees."""
    _write(tmp_path / "lib/multi/ld-2.31.so", "loader")
    _write(tmp_path / "usr/lib/multi/liba.so.1.0", "a")
    _link(tmp_path / "lib64/ld-linux.so.2", "/lib/multi/ld-2.31.so")
    _link(tmp_path / "lib/multi/liba.so.1", "../../usr/lib/multi/liba.so.1.0")
    merge_usr(tmp_path)
    relink(tmp_path)
    assert (tmp_path / "lib").readlink() == Path("usr/lib")
    assert (tmp_path / "lib64/ld-linux.so.2").read_text() == "loader"
    assert (tmp_path / "usr/lib/multi/liba.so.1").read_text() == "a"


def test_the_prefix_can_be_moved(tmp_path: Path):
    prefix = tmp_path / "prefix"
    _write(prefix / "usr/lib/x", "x")
    _link(prefix / "usr/bin/y", "/usr/lib/x")
    relink(prefix)
    moved = prefix.rename(tmp_path / "moved")
    assert (moved / "usr/bin/y").read_text() == "x"


def test_merging_a_merged_prefix_changes_nothing(tmp_path: Path):
    _write(tmp_path / "usr/lib/x", "x")
    merge_usr(tmp_path)
    merge_usr(tmp_path)
    assert (tmp_path / "lib/x").read_text() == "x"


@debian
def test_unpack_leaves_the_manuals_out(tmp_path: Path):
    root = tmp_path / "root"
    _write(root / "DEBIAN/control", "Package: x\nVersion: 1\nArchitecture: all\nMaintainer: m\nDescription: d\n")
    _write(root / "usr/share/man/man1/x.1", "manual")
    _write(root / "usr/share/x/data", "data")
    _write(root / "lib/x", "x")
    subprocess.run(["dpkg-deb", "--build", root, tmp_path / "x.deb"], check=True, capture_output=True)
    unpack_packages([tmp_path / "x.deb"], tmp_path / "prefix", Commands(tmp_path / "log", tmp_path))
    files = sorted(str(p.relative_to(tmp_path / "prefix")) for p in (tmp_path / "prefix").rglob("*") if p.is_file())
    assert [file for file in files if not file.startswith("lib/")] == ["usr/lib/x", "usr/share/x/data"]


@debian
def test_what_is_no_package(tmp_path: Path):
    (tmp_path / "x.deb").write_text("no package")
    with pytest.raises(BuildError, match=r"^x\.deb cannot be unpacked: dpkg-deb: error: "):
        unpack_packages([tmp_path / "x.deb"], tmp_path / "prefix", Commands(tmp_path / "log", tmp_path))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
