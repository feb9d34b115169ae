import platform
import zipfile
from pathlib import Path

import pytest

from stepgrid.build import maven
from stepgrid.build.error import BuildError
from stepgrid.build.maven import open_jar
from tests.build.fetch.test_archive_extraction import file, link, tar, zipped

JAVA = [("META-INF/MANIFEST.MF", 0o644, "m"), ("org/x/A.class", 0o644, "c")]


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")


def holding(folder: Path, *names: str) -> Path:
    """A jar with archives of these names, each with a program that says which one it is of."""
    path = zipped(folder / "a-1.jar", *JAVA)
    with zipfile.ZipFile(path, "a") as archive:
        for name in names:
            inner = tar(
                folder / name, file("bin/x", name.encode(), mode=0o755), file("share/y"), link("bin/z", "/etc/x")
            )
            archive.write(inner, name)
    return path


def names(prefix: Path) -> list[str]:
    return sorted(str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file())


def test_libraries_without_the_java(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a-1.jar", *JAVA, ("liba-linux64.so", 0o644, "so"), ("jni/x86_64-Linux/b.so", 0o644, "b"))
    open_jar(path, tmp_path / "prefix")
    assert names(tmp_path / "prefix") == ["jni/x86_64-Linux/b.so", "liba-linux64.so"]
    assert not (tmp_path / "prefix" / "org").exists()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a-1.jar", "prefix"]


def test_the_programs_for_this_machine(tmp_path: Path) -> None:
    path = holding(tmp_path, "mysql-Linux-amd64.tar.gz", "mysql-Mac_OS_X-x86_64.tar.gz", "mysql-linux-arm64.tgz")
    open_jar(path, tmp_path / "prefix")
    assert names(tmp_path / "prefix") == ["bin/x", "share/y"]  # no link to where the packer's own files were
    assert (tmp_path / "prefix/bin/x").read_text() == "mysql-Linux-amd64.tar.gz"
    assert (tmp_path / "prefix/bin/x").stat().st_mode & 0o111
    assert not [*tmp_path.glob(".prefix*")]


def test_one_archive_that_names_no_machine(tmp_path: Path) -> None:
    open_jar(holding(tmp_path, "postgres-linux.txz"), tmp_path / "prefix")
    assert names(tmp_path / "prefix") == ["bin/x", "share/y"]


@pytest.mark.parametrize(
    ("archives", "count"),
    [
        (["p-linux-arm_64.txz", "p-darwin-x86_64.txz"], "no archive"),
        (["p-linux.txz", "q-linux.txz"], "several archives"),
    ],
)
def test_no_archive_or_several(tmp_path: Path, archives: list[str], count: str) -> None:
    with pytest.raises(BuildError) as caught:
        open_jar(holding(tmp_path, *archives), tmp_path / "prefix")
    listed = ", ".join(sorted(archives))
    assert str(caught.value) == f"a-1.jar holds {count} for Linux on x86_64; it holds: {listed}"


def test_every_machine_by_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    archives = [Path(f"a-linux-{machine}.txz") for machine in maven._MACHINES]
    for machine, archive in zip(maven._MACHINES, archives, strict=True):
        monkeypatch.setattr(platform, "machine", lambda machine=machine: machine)
        assert maven._select_archive("a.jar", archives) == archive
