"""Plug-ins of installed packages: found, named in errors, and noticed when they change."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from stepgrid.plugins import registry

REGISTRIES = (registry.ENGINES, registry.DRIVERS, registry.COLLECTORS, registry.LAYOUTS, registry.IMPORTERS)
SOURCE = "from stepgrid.engines.program import Program\nclass Toy(Program):\n    name = 'toy'\nENGINE = Toy()\n"
SPEC = "title: t\nbuilds: {a: {engine: toyy, version: '1', source: {system: ls}}}\nsteps: [{name: x, kind: command}]\n"
REVISION = "from stepgrid.store.code_revision import revision; print(revision())"
CACHE = "from stepgrid.workflow.plan_cache import code; print(code())"

Install = Callable[..., None]
Say = Callable[..., str]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """A package as pip leaves it: its metadata beside its module."""

    def installed(
        name: str, version: str = "1.0", entries: str = "[stepgrid.engines]\ntoy = {}:ENGINE", source: str = SOURCE
    ) -> None:
        for old in tmp_path.glob(f"{name}-*.dist-info/*"):
            old.unlink()
            old.parent.rmdir() if not [*old.parent.iterdir()] else None
        info = tmp_path / f"{name}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(entries.format(name))
        (tmp_path / f"{name}.py").write_text(source)

    return installed


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Say:
    """What a Python prints that has the packages."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def said(*words: str) -> str:
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=tmp_path)
        return (done.stdout + done.stderr).strip()

    return said


@pytest.mark.parametrize("each", REGISTRIES, ids=[each.group for each in REGISTRIES])
def test_each_built_in_plugin_can_be_imported(each: registry.Registry[object]) -> None:
    assert each.names()
    assert all(each.get(name) for name in each.names())


def test_names_are_in_the_order_of_the_alphabet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after a test has replaced one, which puts it last."""
    monkeypatch.setattr(registry.DRIVERS, "points", dict(reversed(registry.DRIVERS.points.items())))
    assert [*registry.DRIVERS.built_in()] == sorted(registry.DRIVERS.points) == [*registry.DRIVERS.names()]


def test_an_engine_of_another_package_is_found(install: Install, say: Say) -> None:
    install("toy_engine")
    program = "from stepgrid.plugins.registry import ENGINES as e; print(e.names()[-1], e.get('toy'), e.built_in())"
    built_in = "('mariadb', 'mysql', 'postgres', 'program', 'rocksdb', 'sysbench')"
    found = say("-c", program)
    assert found.startswith("toy <toy_engine.Toy object at ")
    assert found.endswith(built_in)


def test_a_spec_is_told_what_was_meant_or_how_to_install_it(install: Install, say: Say, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(SPEC)
    assert "= known here: mariadb, mysql, postgres, program, rocksdb, sysbench; `pip install PACKAGE` adds one " in say(
        "-m", "stepgrid.cli", "check", "a.yaml"
    )
    install("toy_engine")
    assert "= did you mean `toy`?" in say("-m", "stepgrid.cli", "check", "a.yaml")


def test_two_packages_with_one_name_are_told_apart(install: Install, say: Say) -> None:
    install("toy_engine")
    install("other_toy", "2.0")
    message = "two packages bring the engine `toy`: other_toy 2.0 and toy_engine 1.0; uninstall one of them"
    found = say("-m", "stepgrid.cli", "schema")
    assert found in (message, message.replace("other_toy 2.0 and toy_engine 1.0", "toy_engine 1.0 and other_toy 2.0"))


def test_a_plugin_that_cannot_be_imported_is_a_sentence(install: Install, say: Say, tmp_path: Path) -> None:
    install("toy_engine", source="import no_such_module\n")
    (tmp_path / "a.yaml").write_text(SPEC.replace("toyy", "toy"))
    assert say("-m", "stepgrid.cli", "check", "a.yaml") == (
        "engine `toy` of toy_engine 1.0 cannot be imported: ModuleNotFoundError: No module named 'no_such_module'"
    )


def test_a_plugin_that_lacks_something_is_a_sentence(install: Install, say: Say, tmp_path: Path) -> None:
    install("toy_engine", source="class ENGINE:\n    name, kinds, server = 'toy', (), False\n")
    (tmp_path / "a.yaml").write_text(SPEC.replace("toyy", "toy"))
    assert say("-m", "stepgrid.cli", "check", "a.yaml") == (
        "engine `toy` of toy_engine 1.0 has no immutable, storage_engines, default_storage_engine, extensions,"
        " reserved, capabilities; `pytest --pyargs stepgrid.conformance` says what a plug-in needs (docs/plugins.md)"
    )


def test_an_installation_without_entry_points_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "distributions", list)
    registry._entry_points.cache_clear()
    with pytest.raises(registry.PluginError, match=r"^no plug-in is registered: .*; run `make setup`$"):
        registry.Registry("engines", "engine", "stepgrid.plugins.engine:Engine").names()
    registry._entry_points.cache_clear()


DRIVER = "[stepgrid.drivers]\ntoy = {}:DRIVER"


@pytest.mark.parametrize("program", [REVISION, CACHE])
def test_the_code_is_another_when_a_plugin_changes(program: str, install: Install, say: Say) -> None:
    seen = [say("-c", program)]
    for version, source in (("1.0", "A = 1\n"), ("1.0", "A = 22\n"), ("1.1", "A = 22\n")):
        install("toy_driver", version, DRIVER, source)
        seen.append(say("-c", program))
    assert len({*seen}) == 4, seen


def test_engines_and_importers_have_no_part_in_a_report(install: Install, say: Say) -> None:
    before = say("-c", REVISION)
    install("toy_engine")
    assert say("-c", REVISION) == before
