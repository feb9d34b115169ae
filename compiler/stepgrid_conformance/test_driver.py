"""`--driver NAME`: its protocols, its settings; with `--samples`, its parser; with `--spec`, its figures."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import pytest
from pydantic import BaseModel

from stepgrid.lint import rule
from stepgrid.model.figures import Figures, ParseError
from stepgrid.plugins import driver as protocols
from stepgrid.plugins import metrics
from stepgrid.plugins.collector import MetricProvider, OwnMetrics
from stepgrid.plugins.driver import (
    DefaultTables,
    ForeignEngines,
    LiveThroughput,
    StandaloneOutput,
)
from stepgrid.plugins.metrics import METRICS
from stepgrid.plugins.registry import DRIVERS, ENGINES, LAYOUTS, client_engine, runs_on
from stepgrid.plugins.registry import runner as runnable
from stepgrid_conformance.support import (
    NAMED,
    OutputSample,
    Sweep,
    check,
    check_rules,
    optional,
    refuse,
    refuse_imports,
)

HEAVY = ("duckdb", "numpy", "pydantic", "snakemake")


def model(kind: str) -> type[BaseModel]:
    return DRIVERS.get(kind).settings_model()


def parsed(sample: OutputSample) -> Figures:
    runner = runnable(sample.plugin)
    assert runner is not None
    settings = model(sample.plugin).model_validate(sample.settings).model_dump(mode="json")
    return runner.parse(sample.folder, settings)


def test_it_has_every_protocol_whole_or_not_at_all(driver: str) -> None:
    check(DRIVERS.get(driver), protocols.Driver, *optional(protocols), *optional(metrics), *optional(rule))


def test_its_kind_is_the_name_of_its_entry_point(driver: str) -> None:
    kind = DRIVERS.get(driver).kind
    assert kind == driver, f"`kind` is {kind}, the entry point is {driver}: give both the same name"


def test_it_runs_on_an_engine_that_is_installed(driver: str) -> None:
    plugin = DRIVERS.get(driver)
    named = plugin.engines if isinstance(plugin, ForeignEngines) else ()
    refuse("engines that are not installed", [name for name in named if name not in ENGINES.names()])
    assert any(runs_on(driver, engine) for engine in ENGINES.names()), "no installed engine has steps of this kind"
    assert client_engine(driver) is None or client_engine(driver) in ENGINES.names(), (
        f"its client {client_engine(driver)} is no engine"
    )


def test_its_settings_are_strict_and_frozen(driver: str) -> None:
    config = model(driver).model_config
    assert (config.get("extra"), config.get("frozen")) == ("forbid", True), "derive from stepgrid.plugins.settings"


def test_each_setting_has_a_line_on_its_page(driver: str) -> None:
    bare = [name for name, field in model(driver).model_fields.items() if not field.description]
    refuse("settings without a description", bare)


def test_a_command_imports_nothing_heavy(driver: str) -> None:
    statement = f"from stepgrid.plugins.registry import DRIVERS; DRIVERS.get({driver!r})"
    hint = "import it in the method that needs it: each step's job imports the driver"
    refuse_imports(statement, HEAVY, hint)


def test_its_metrics_have_units_and_names_of_their_own(driver: str) -> None:
    plugin = DRIVERS.get(driver)
    sets = plugin.metrics().sections if isinstance(plugin, MetricProvider) else {}
    for metric in chain.from_iterable(sets.values()):
        name = metric.name
        assert name.isidentifier(), f"metric {name}: use letters, digits and _"
        assert name == name.lower(), f"metric {name}: use small letters"
        assert metric.unit, f"metric {name} has no unit"
        assert metric.definition.endswith("."), f"metric {name}: its definition is no sentence with a full stop"
        assert METRICS[name].definition == metric.definition, f"another plug-in has a metric {name}"


def test_its_rules_have_codes(driver: str) -> None:
    check_rules(DRIVERS.get(driver))


def test_its_tables_are_layouts(driver: str) -> None:
    plugin = DRIVERS.get(driver)
    tables = plugin.tables if isinstance(plugin, DefaultTables) else ()
    refuse("tables of layouts that are not installed", [name for name in tables if name not in LAYOUTS.names()])


def test_a_sample_has_the_figures_that_are_expected(driver: str, sample: OutputSample) -> None:
    sample.skip_unless(driver)
    assert dict(parsed(sample).metrics) == pytest.approx(dict(sample.expected))


def test_a_sample_is_read_alike_each_time(driver: str, sample: OutputSample) -> None:
    sample.skip_unless(driver)
    assert parsed(sample) == parsed(sample), "two readings of one output differ"


def test_the_settings_of_a_sample_stay_the_same_when_written_out(driver: str, sample: OutputSample) -> None:
    """Settings are part of a stage's identity."""
    sample.skip_unless(driver)
    once = model(driver).model_validate(sample.settings).model_dump(mode="json")
    again = model(driver).model_validate(once).model_dump(mode="json")
    refuse("settings that change when they are read again", [name for name in once if again.get(name) != once[name]])
    key = DRIVERS.get(driver).seed_key(once)
    assert key, "`seed_key` is empty"
    assert DRIVERS.get(driver).seed_key(once) == key, "`seed_key` differs from call to call"
    assert DRIVERS.get(driver).estimate(once) >= 0, "`estimate` is below 0 seconds"


def test_an_output_that_says_nothing_is_an_error(driver: str, sample: OutputSample, tmp_path: Path) -> None:
    sample.skip_unless(driver)
    for path in sample.folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes() if path.suffix == ".json" else b"")
    with pytest.raises(ParseError):
        parsed(sample._replace(folder=tmp_path))


def test_a_sample_can_be_read_beside_and_after_the_run(driver: str, sample: OutputSample) -> None:
    sample.skip_unless(driver)
    plugin = DRIVERS.get(driver)
    if isinstance(plugin, LiveThroughput):
        assert all(rate >= 0 for _seconds, rate in plugin.live(sample.folder)), "`live` has a rate below 0"
    if isinstance(plugin, StandaloneOutput):
        assert plugin.printed(sample.folder / "stdout"), "`printed` finds no step in the stdout of the sample"


def test_its_steps_have_their_figures(driver: str, sweep: Sweep) -> None:
    steps, plugin = list(sweep.steps(driver)), DRIVERS.get(driver)
    assert steps, f"the spec has no measured step of kind {driver}"
    for step in steps:
        runner = runnable(driver)
        assert runner is not None
        names = set(runner.parse(step.folder, step.settings).metrics)
        own_metrics = plugin.own_metrics(step.settings) if isinstance(plugin, OwnMetrics) else {}
        assert names, f"{step.folder}: a step without figures"
        refuse(f"{step.folder}: figures that are no metrics", sorted(names - {*METRICS, *own_metrics}), NAMED)
