"""`--engine NAME`: its protocols, its recipes; with `--spec`, its options, its server, its statistics."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from stepgrid.build import recipe
from stepgrid.conformance.protocols import check, check_rules, optional
from stepgrid.conformance.sweep import Sweep
from stepgrid.lint import rule
from stepgrid.plugins import engine as protocols
from stepgrid.plugins import server
from stepgrid.plugins.drivers import runs_on
from stepgrid.plugins.engines import building, served
from stepgrid.plugins.registry import DRIVERS, ENGINES

HEAVY = ("duckdb", "jinja2", "numpy", "pydantic", "snakemake", "subprocess")
VERSIONS = ("", "0.1", "1.2.3", "99")


def test_it_has_every_protocol_whole_or_not_at_all(engine: str) -> None:
    found = ENGINES.get(engine)
    every = [protocols.Engine, *optional(protocols), *optional(server), *optional(rule), *optional(recipe)]
    check(found, *every)


def test_its_name_is_that_of_its_entry_point(engine: str) -> None:
    assert ENGINES.get(engine).name == engine


def test_its_steps_are_of_kinds_that_are_installed(engine: str) -> None:
    assert [kind for kind in ENGINES.get(engine).kinds if kind not in DRIVERS.names()] == []
    assert any(runs_on(kind, engine) for kind in DRIVERS.names())


def test_its_storage_engine_is_one_of_its_own(engine: str) -> None:
    found = ENGINES.get(engine)
    assert found.default_storage_engine in found.storage_engines


def test_a_server_can_be_run(engine: str) -> None:
    assert ENGINES.get(engine).server == (served(engine) is not None), "`server` says otherwise than its methods"


def test_what_a_version_can_do_is_a_set_of_names(engine: str) -> None:
    for version in VERSIONS:
        found = ENGINES.get(engine).capabilities(version)
        assert isinstance(found, frozenset)
        assert all(name.isidentifier() for name in found)


def test_planning_imports_nothing_heavy(engine: str) -> None:
    program = f"import sys; from stepgrid.plugins.registry import ENGINES; ENGINES.get({engine!r}); "
    program += f"print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n", "import it in the method that needs it"


def test_its_recipes_say_what_they_take(engine: str) -> None:
    for each in getattr(ENGINES.get(engine), "recipes", tuple)():
        assert each.name
        assert callable(each.takes)
        assert callable(each.make)


def test_its_rules_have_codes(engine: str) -> None:
    check_rules(ENGINES.get(engine))


def test_its_builds_list_their_options(engine: str, sweep: Sweep) -> None:
    found = list(sweep.builds(engine))
    assert found, f"the spec has no build of engine {engine}"
    for folder, record in found:
        assert record["version"]
        assert set(record["programs"]) >= set(building(engine).programs)
        if (folder / "catalogue.json").is_file():
            listed = json.loads((folder / "catalogue.json").read_text(encoding="utf-8"))
            assert listed
            assert all({"type", "default"} <= set(each) for each in listed.values())


def test_its_servers_are_ready_and_end_by_themselves(engine: str, sweep: Sweep) -> None:
    if not ENGINES.get(engine).server:
        pytest.skip(f"{engine} is no server")
    found = list(sweep.servers(engine))
    assert found
    for folder, journal in found:
        events = {entry["event"]: entry for entry in journal}
        assert {"server started", "server ready", "server stopped"} <= set(events), folder
        assert (events["server stopped"]["killed"], events["server stopped"]["exit"]) == (False, 0), folder


def test_its_servers_run_with_what_was_asked(engine: str, sweep: Sweep) -> None:
    for folder, _journal in sweep.servers(engine) if ENGINES.get(engine).server else ():
        effective = json.loads((folder / "server" / "effective.json").read_text(encoding="utf-8"))
        assert effective["values"], folder
        assert effective["differs"] == {}, folder


def test_its_statistics_grow_and_are_numbers(engine: str, sweep: Sweep) -> None:
    for folder, _journal in sweep.servers(engine) if ENGINES.get(engine).server else ():
        for step in sorted(folder.glob("steps/*/statistics")):
            before, after = _counters(step / "before.json"), _counters(step / "after.json")
            assert after, step
            less = [name for name in before.keys() & after.keys() if after[name] < before[name]]
            assert less == [], f"{step}: a counter only grows, else it is a gauge"


def _counters(path: Path) -> Mapping[str, float]:
    found: Mapping[str, float] = json.loads(path.read_text(encoding="utf-8"))["counters"]
    return found
