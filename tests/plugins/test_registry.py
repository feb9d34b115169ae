"""Plug-ins of installed packages: found, named in errors, noticed when they change; what each can do."""

import math
import subprocess
import sys
from dataclasses import dataclass

import pytest
from hypothesis import strategies as st

from stepgrid.model.figures import Figures, ParseError
from stepgrid.plugins import registry
from stepgrid.plugins.registry import DRIVERS, ENGINES, driver, engine, parse_step, require_runner
from stepgrid_published.importer import IMPORTERS

REGISTRIES = (registry.ENGINES, registry.DRIVERS, registry.COLLECTORS, registry.LAYOUTS, IMPORTERS)
SOURCE = (
    "from stepgrid_databases.engines.program import AnyProgram\nclass Toy(AnyProgram):\n name = 'toy'\nENGINE = Toy()\n"
)
SPEC = "title: t\nbuilds: {a: {engine: toyy, version: '1', source: {system: ls}}}\nsteps: [{name: x, kind: command}]\n"
REVISION = "from stepgrid.store.store import revision; print(revision())"
CACHE = "from stepgrid.workflow.plan_cache import code_digest; print(code_digest())"


@pytest.fixture
def install(tmp_path):
    """A package as pip leaves it: its metadata beside its module."""

    def installed(name, version="1.0", entries="[stepgrid.engines]\ntoy = {}:ENGINE", source=SOURCE):
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
def say(tmp_path, monkeypatch):
    """What a Python prints that has the packages."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def said(*words):
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=tmp_path)
        return (done.stdout + done.stderr).strip()

    return said


@pytest.mark.parametrize("each", REGISTRIES, ids=[each.group for each in REGISTRIES])
def test_each_built_in_plugin_can_be_imported(each):
    assert each.names()
    assert all(each.get(name) for name in each.names())


def test_an_engine_of_another_package_is_found(install, say):
    install("toy_engine")
    program = "from stepgrid.plugins.registry import ENGINES as e; print(e.names()[-1], e.get('toy'), e.built_in())"
    built_in = "('mariadb', 'mysql', 'postgres', 'program', 'rocksdb', 'sysbench')"
    found = say("-c", program)
    assert found.startswith("toy <toy_engine.Toy object at ")
    assert found.endswith(built_in)


def test_a_spec_is_told_what_was_meant_or_how_to_install_it(install, say, tmp_path):
    (tmp_path / "a.yaml").write_text(SPEC)
    assert "= known here: mariadb, mysql, postgres, program, rocksdb, sysbench; `pip install PACKAGE` adds one " in say(
        "-m", "stepgrid.cli", "check", "a.yaml"
    )
    install("toy_engine")
    assert "= did you mean `toy`?" in say("-m", "stepgrid.cli", "check", "a.yaml")


def test_two_packages_with_one_name_are_told_apart(install, say):
    install("toy_engine")
    install("other_toy", "2.0")
    message = "two packages bring the engine `toy`: other_toy 2.0 and toy_engine 1.0; uninstall one of them"
    found = say("-m", "stepgrid.cli", "schema")
    assert found in (message, message.replace("other_toy 2.0 and toy_engine 1.0", "toy_engine 1.0 and other_toy 2.0"))


def test_a_plugin_that_cannot_be_imported_is_a_sentence(install, say, tmp_path):
    install("toy_engine", source="import no_such_module\n")
    (tmp_path / "a.yaml").write_text(SPEC.replace("toyy", "toy"))
    assert say("-m", "stepgrid.cli", "check", "a.yaml") == (
        "engine `toy` of toy_engine 1.0 cannot be imported: ModuleNotFoundError: No module named 'no_such_module'"
    )


def test_a_plugin_that_lacks_something_is_a_sentence(install, say, tmp_path):
    install("toy_engine", source="class ENGINE:\n    name, kinds, server = 'toy', (), False\n")
    (tmp_path / "a.yaml").write_text(SPEC.replace("toyy", "toy"))
    assert say("-m", "stepgrid.cli", "check", "a.yaml") == (
        "engine `toy` of toy_engine 1.0 has no immutable, storage_engines, default_storage_engine, extensions,"
        " reserved, capabilities; `python -m stepgrid_conformance` says what a plug-in needs (docs/guides/plugins.md)"
    )


DRIVER = "[stepgrid.drivers]\ntoy = {}:DRIVER"


@pytest.mark.parametrize("program", [REVISION, CACHE])
def test_the_code_is_another_when_a_plugin_changes(program, install, say):
    seen = [say("-c", program)]
    for version, source in (("1.0", "A = 1\n"), ("1.0", "A = 22\n"), ("1.1", "A = 22\n")):
        install("toy_driver", version, DRIVER, source)
        seen.append(say("-c", program))
    assert len({*seen}) == 4, seen


@dataclass(frozen=True)
class Printing:
    """A driver whose output says these figures."""

    figures: Figures
    parser: int = 1

    def command(self, settings, options, context):
        raise NotImplementedError

    def parse(self, folder, settings):
        return self.figures


PLAIN = st.text("abcdefghij_0123456789", min_size=1, max_size=8)
ENGINE = {"storage_engine": st.none() | PLAIN}


# what may be given to each kind; what a setting needs beside itself is always given
def test_an_unknown_kind_says_how_to_install_it():
    with pytest.raises(LookupError, match=r"^kind `db_bensh` is not installed; `pip install PACKAGE` adds one "):
        driver("db_bensh")


@pytest.mark.parametrize("kind", DRIVERS.names())
def test_every_driver_has_what_the_protocol_asks_for(kind):
    found = driver(kind)
    model = found.settings_model()
    assert found.kind == kind
    assert found.revision >= 1
    assert {setting for setting in found.reserved.values() if setting} <= set(model.model_fields)
    assert model.model_config["extra"] == "forbid"
    assert model.model_config["frozen"] is True
    assert all(field.description for field in model.model_fields.values())


@pytest.mark.parametrize("kind", DRIVERS.names())
def test_a_command_needs_no_heavy_import(kind):
    """A job makes commands: it must not pay for pydantic."""
    program = (
        "import sys; from stepgrid.plugins.registry import driver; "
        f"driver({kind!r}); print([m for m in ('pydantic', 'duckdb', 'numpy', 'snakemake') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_what_a_parser_meets_in_a_damaged_output_is_told(tmp_path):
    (tmp_path / "stdout").write_text('{"end": 3}\n')
    with pytest.raises(ParseError, match=r"^its output cannot be read: IndexError: list index out of range$"):
        parse_step(require_runner("quiesce"), tmp_path, {})


@pytest.mark.parametrize("rate", [-5.0, -1e-300, math.inf, math.nan])
def test_a_rate_below_0_is_refused_whatever_driver_has_it(tmp_path, rate):
    with pytest.raises(ParseError) as caught:
        parse_step(Printing(Figures({"qps": rate})), tmp_path, {})
    assert str(caught.value) == f"metric `qps`: {rate:g} operations per second; a rate is 0 or more"


@pytest.mark.parametrize("name", ENGINES.names())
def test_every_engine_has_what_the_protocol_asks_for(name):
    found = engine(name)
    assert found.name == name
    assert set(found.kinds) <= set(DRIVERS.names())
    assert "command" in found.kinds
    assert all("*" in pattern for pattern in found.immutable)
    assert found.default_storage_engine in found.storage_engines
    assert found.server == ("sysbench" in found.kinds)
    assert set(found.reserved.values()) <= {"", "storage_engine"}


def test_planning_pays_for_no_heavy_import():
    program = (
        "import sys; from stepgrid.plugins.registry import ENGINES; [ENGINES.get(name) for name in ENGINES.names()]; "
        "print([m for m in ('pydantic', 'duckdb', 'jinja2', 'subprocess', 'snakemake') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"
