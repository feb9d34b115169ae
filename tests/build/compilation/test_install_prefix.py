import shutil
import subprocess
from pathlib import Path

import pytest

from stepgrid.build.commands import Commands
from stepgrid.build.elf import read_elf
from stepgrid.build.error import BuildError
from stepgrid.build.ready_programs import find_programs, library_folders, start_argv
from stepgrid.build.record import absolute

ECHO = Path(shutil.which("echo") or "/bin/echo").resolve()
HOST = read_elf(ECHO)
glibc = pytest.mark.skipif(
    HOST is None or not (HOST.interpreter or "").startswith(("/lib/ld-linux", "/lib64/ld-linux")),
    reason="the host's programs are not started by glibc's loader",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A build whose prefix holds a real program, its loader and its library."""
    assert HOST is not None
    assert HOST.interpreter is not None
    libc = next(line.split()[2] for line in _ldd(ECHO) if line.strip().startswith("libc.so"))
    loader = Path(HOST.interpreter)
    for source, target in (
        (ECHO, "usr/bin/echo"),
        (libc, "usr/lib/x86-linux-gnu/libc.so.6"),
        (loader, str(loader.relative_to("/"))),
    ):
        (tmp_path / "prefix" / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, tmp_path / "prefix" / target)
    return tmp_path


@glibc
def test_started_through_its_own_loader(folder: Path):
    argv = start_argv(folder, folder / "prefix/usr/bin/echo", _commands(folder))
    loader = str(Path("prefix") / (HOST.interpreter or "").lstrip("/"))
    library = "prefix/usr/lib/x86-linux-gnu"
    assert argv == (loader, "--inhibit-cache", "--library-path", library, "prefix/usr/bin/echo")
    moved = folder.rename(folder.with_name("moved"))
    done = subprocess.run([*absolute(moved, argv), "it", "runs"], capture_output=True, text=True, check=True)
    assert done.stdout == "it runs\n"


@glibc
def test_a_library_of_the_host_is_refused(folder: Path):
    (folder / "prefix/usr/lib/x86-linux-gnu/libc.so.6").rename(folder / "prefix/usr/lib/x86-linux-gnu/other.so")
    message = r"^echo cannot be started from its packages: their loader would load /\S*libc\.so\.6$"
    with pytest.raises(BuildError, match=message):
        start_argv(folder, folder / "prefix/usr/bin/echo", _commands(folder))


@glibc
def test_packages_without_a_libc(folder: Path):
    interpreter = (HOST.interpreter if HOST else None) or ""
    (folder / "prefix" / interpreter.lstrip("/")).unlink()
    with pytest.raises(BuildError) as caught:
        start_argv(folder, folder / "prefix/usr/bin/echo", _commands(folder))
    assert str(caught.value) == f"the packages hold no loader {interpreter}: they lack their libc"


def test_a_script_is_started_as_it_is(tmp_path: Path):
    script = tmp_path / "prefix" / "usr" / "bin" / "x"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    assert start_argv(tmp_path, script, _commands(tmp_path)) == ("prefix/usr/bin/x",)


def test_programs_are_found_where_debian_puts_them(tmp_path: Path):
    for place in ("usr/sbin/server", "usr/lib/postgresql/17/bin/initdb", "usr/bin/client"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).touch()
    found = find_programs(tmp_path, ("server", "initdb"), "x of suite sid")
    assert found == {"server": tmp_path / "usr/sbin/server", "initdb": tmp_path / "usr/lib/postgresql/17/bin/initdb"}
    with pytest.raises(BuildError) as caught:
        find_programs(tmp_path, ("server", "psql"), "x of suite sid")
    assert str(caught.value) == "x of suite sid has no program psql; its programs are: client, initdb, server"


def _ldd(program: Path) -> list[str]:
    return subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.splitlines()


def _commands(folder: Path) -> Commands:
    return Commands(folder / "log", folder)


def test_folders_that_packages_keep_to_themselves_come_last(tmp_path: Path):
    for name in ("a-linux-gnu/libc.so.6", "a-linux-gnu/ceph/libceph.so.2", "a-linux-gnu/gconv/X.so", "libz.so.1"):
        (tmp_path / "usr/lib" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "usr/lib" / name).touch()
    found = [str(place.relative_to(tmp_path / "usr")) for place in library_folders(tmp_path)]
    assert found == ["lib/a-linux-gnu", "lib", "lib/a-linux-gnu/ceph"]
