"""`--engine NAME`: its protocols, its recipes; with `--spec`, its options, its server, its statistics."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from stepgrid.build import recipe
from stepgrid.lint import rule
from stepgrid.plugins import counters, durability, server
from stepgrid.plugins import engine as protocols
from stepgrid.plugins.registry import DRIVERS, ENGINES, require_builder, runs_on, server_engine
from stepgrid_conformance.support import Sweep, check, check_rules, optional, refuse, refuse_imports
from stepgrid_databases import vectors

HEAVY = ("duckdb", "jinja2", "numpy", "pydantic", "snakemake", "subprocess")
VERSIONS = ("", "0.1", "1.2.3", "99")


def test_it_has_every_protocol_whole_or_not_at_all(engine: str) -> None:
    plugin = ENGINES.get(engine)
    modules = (protocols, server, rule, recipe, counters, durability, vectors)
    check(plugin, protocols.Engine, *(protocol for module in modules for protocol in optional(module)))


def test_its_counters_have_roles_that_there_are(engine: str) -> None:
    plugin = ENGINES.get(engine)
    names = plugin.counter_names if isinstance(plugin, counters.NamedCounters) else {}
    refuse("roles that no report reads", [role for role in names if role not in counters.ROLES])


def test_its_name_is_that_of_its_entry_point(engine: str) -> None:
    name = ENGINES.get(engine).name
    assert name == engine, f"`name` is {name}, the entry point is {engine}: give both the same name"


def test_its_steps_are_of_kinds_that_are_installed(engine: str) -> None:
    refuse("kinds of steps that are not installed", sorted({*ENGINES.get(engine).kinds} - {*DRIVERS.names()}))
    assert any(runs_on(kind, engine) for kind in DRIVERS.names()), "no installed driver runs on it"


def test_its_storage_engine_is_one_of_its_own(engine: str) -> None:
    plugin = ENGINES.get(engine)
    default = plugin.default_storage_engine
    assert default in plugin.storage_engines, f"`default_storage_engine` is {default}: none of its `storage_engines`"


def test_a_server_can_be_run(engine: str) -> None:
    assert ENGINES.get(engine).server == (server_engine(engine) is not None), "`server` says otherwise than its methods"


def test_what_a_version_can_do_is_a_set_of_names(engine: str) -> None:
    for version in VERSIONS:
        names = ENGINES.get(engine).capabilities(version)
        assert isinstance(names, frozenset), f"`capabilities` of version {version or '(empty)'} is no frozenset"
        refuse("capabilities that are no names", sorted(name for name in names if not name.isidentifier()))


def test_planning_imports_nothing_heavy(engine: str) -> None:
    statement = f"from stepgrid.plugins.registry import ENGINES; ENGINES.get({engine!r})"
    refuse_imports(statement, HEAVY, "import it in the method that needs it")


def test_its_recipes_say_what_they_take(engine: str) -> None:
    for recipe_ in getattr(ENGINES.get(engine), "recipes", tuple)():
        assert recipe_.name, f"{type(recipe_).__name__}: a recipe without a name"
        assert callable(recipe_.takes), f"recipe {recipe_.name}: `takes` is no function"
        assert callable(recipe_.make), f"recipe {recipe_.name}: `make` is no function"


def test_its_rules_have_codes(engine: str) -> None:
    check_rules(ENGINES.get(engine))


def test_its_builds_list_their_options(engine: str, sweep: Sweep) -> None:
    builds = list(sweep.builds(engine))
    assert builds, f"the spec has no build of engine {engine}"
    for folder, record in builds:
        assert record["version"], f"{folder}: the build has no version"
        lacking = sorted({*require_builder(engine).programs} - {*record["programs"]})
        refuse(f"{folder}: the build lacks programs of the engine", lacking)
        if (folder / "catalogue.json").is_file():
            listed = json.loads((folder / "catalogue.json").read_text(encoding="utf-8"))
            assert listed, f"{folder}: catalogue.json lists no option"
            bare = sorted(name for name, info in listed.items() if not {"type", "default"} <= info.keys())
            refuse(f"{folder}: options without type or default", bare)


def test_its_servers_are_ready_and_end_by_themselves(engine: str, sweep: Sweep) -> None:
    if not ENGINES.get(engine).server:
        pytest.skip(f"{engine} is no server")
    servers = list(sweep.servers(engine))
    assert servers, f"the spec started no server of engine {engine}"
    for folder, journal in servers:
        events = {entry["event"]: entry for entry in journal}
        lacking = [name for name in ("server started", "server ready", "server stopped") if name not in events]
        refuse(f"{folder}: the journal lacks events", lacking)
        assert not events["server stopped"]["killed"], f"{folder}: the server did not stop and was killed"
        status = events["server stopped"]["exit"]
        assert status == 0, f"{folder}: the server stopped with exit status {status}"


def test_its_servers_run_with_what_was_asked(engine: str, sweep: Sweep) -> None:
    for folder, _journal in sweep.servers(engine) if ENGINES.get(engine).server else ():
        effective = json.loads((folder / "server" / "effective.json").read_text(encoding="utf-8"))
        assert effective["values"], f"{folder}: no option was read back from the server"
        refuse(f"{folder}: options that differ from what was asked", effective["differs"])


def test_its_statistics_grow_and_are_numbers(engine: str, sweep: Sweep) -> None:
    for folder, _journal in sweep.servers(engine) if ENGINES.get(engine).server else ():
        for step in sorted(folder.glob("steps/*/statistics")):
            before, after = _counters(step / "before.json"), _counters(step / "after.json")
            assert after, f"{step}: no counters after the step"
            less = [name for name in before.keys() & after.keys() if after[name] < before[name]]
            refuse(f"{step}: counters that shrank", less, "a counter only grows, else it is a gauge")


def _counters(path: Path) -> Mapping[str, float]:
    counters: Mapping[str, float] = json.loads(path.read_text(encoding="utf-8"))["counters"]
    return counters
