"""A request to run: its words, its plan, and the reasons why nothing is started."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from snakemake.cli import parse_config
from snakemake_interface_executor_plugins.utils import format_cli_arg

from stepgrid import pipeline
from stepgrid.host import sysfs
from stepgrid.language.site import VARIABLE
from stepgrid.model.plan import Plan, PlannedBuild, PlannedStage, PlannedStep, Report
from stepgrid.plugins.registry import DRIVERS, unrunnable_kinds
from stepgrid.store.store import Store
from stepgrid.workflow import run_request
from stepgrid.workflow.run_request import (
    Fault,
    config_faults,
    own_section,
    quote_texts,
    read_texts,
    unsupported,
    unsupported_recipes,
)
from tests.store.test_results import ONE_PLAN as PLAN

TEXTS = ["cache != 'half'", '"a" == cache', "params.x='1'", "params.argv=[sh, -c, \"echo '$HOME' `id` \\\\ a\"]", "x=1"]


def in_a_job(arguments: list[str]) -> list[str]:
    """As the executor for SLURM gives them: Python's quotes, within a shell's."""
    command = format_cli_arg("--config", arguments).replace('"', '\\"')
    told = subprocess.run(["sh", "-c", f'printf %s "{command}"'], check=True, capture_output=True, text=True).stdout
    shell = f"printf '%s\\0' {told}"
    said = subprocess.run(["sh", "-c", shell], check=True, capture_output=True, text=True).stdout
    return said.split("\0")[1:-1]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_reaches_a_job_as_it_was_written(text: str) -> None:
    config = parse_config(in_a_job([f"only={quote_texts([text])}"]))
    assert read_texts(config["only"]) == (text,)


def test_what_a_person_gives_snakemake_is_a_text_or_a_list() -> None:
    for given, read in ((None, ()), ("a", ("a",)), (["a", "b"], ("a", "b")), (1, ("1",))):
        assert read_texts(given) == read


def test_what_no_shell_changes_stays_as_it_is() -> None:
    assert json.loads(quote_texts(["repeat=3"])) == ["repeat=3"]
    assert quote_texts(["a'b"]) == "hex:5b22612762225d"


FAULTS = {
    "scal=smoke": "there is no key `scal`: did you mean `scale`? "
    "known keys: spec, scale, only, set, site, until, no_wait",
    "repeat=5": "there is no key `repeat`: a value of the spec is set by `set=repeat=5`; "
    "known keys: spec, scale, only, set, site, until, no_wait",
    "scale=": "`scale=` has no value: expected the name of one of the spec's `scales`, or leave it out",
    "scale=[a, b]": "scale=['a', 'b']: expected the name of one of the spec's `scales`",
    "spec={a: b.yaml}": "spec={'a': 'b.yaml'}: expected the file of a spec",
    "only=[cache == 1, cache == 2]": "only=['cache == 1', 'cache == 2']: expected one expression over the axes",
}


@pytest.mark.parametrize("text", FAULTS)
def test_an_unknown_key_or_an_unusable_value_is_a_wrong_call(text: str) -> None:
    with pytest.raises(Fault) as caught:
        pipeline.remaining_work(parse_config([text, *(["spec=a.yaml"] if not text.startswith("spec") else [])]))
    assert (str(caught.value), caught.value.status) == (f"Snakemake's config: {FAULTS[text]}", 2)


def test_all_faults_of_a_request_come_at_once() -> None:
    assert len([*config_faults({"spce": "a.yaml", "scale": None, "onyl": "x"})]) == 3


SHARED = {"samples": "a.tsv", "stepgrid": {"spec": "a.yaml", "scale": "smoke"}}


def test_in_a_config_that_workflows_share_only_our_section_is_judged() -> None:
    section = own_section(SHARED)
    assert (section, [*config_faults(section)]) == (SHARED["stepgrid"], [])
    assert own_section({"spec": "a.yaml"}) == {"spec": "a.yaml"}


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"scale": "smoke"}, "`scale` beside the section `stepgrid`, which alone counts: write it there"),
        ({"stepgrid": "a.yaml"}, "stepgrid=a.yaml: expected a map: stepgrid={spec: FILE}"),
    ],
)
def test_a_section_that_would_lose_a_word_is_refused(more: dict[str, Any], fault: str) -> None:
    with pytest.raises(Fault) as caught:
        own_section(SHARED | more)
    assert (str(caught.value), caught.value.status) == (f"Snakemake's config: {fault}", 2)


def test_an_empty_site_means_none_and_a_list_of_settings_is_fine() -> None:
    config = parse_config(["spec=a.yaml", "site=", "set=[params.x=1, repeat=2]", "until=6h", "only=['x == 1']"])
    assert [*config_faults(config)] == []


# The plan and its store


def test_no_spec_is_a_wrong_call():
    with pytest.raises(Fault, match=r"^which spec\? ") as caught:
        pipeline.remaining_work({})
    assert caught.value.status == 2


def test_a_folder_that_cannot_be_written_is_told_before_anything_starts(tmp_path, monkeypatch):
    store = Store(tmp_path / "outputs")
    (store.root / "results").mkdir(parents=True)
    monkeypatch.setattr(os, "access", lambda path, mode: path != store.root / "results")
    with pytest.raises(Fault) as caught:
        run_request.usable_work(PLAN, store, False)
    assert caught.value.status == 3
    assert str(caught.value) == (
        f"{store.root} cannot be written: no permission to write ({store.root}/results); "
        "make it writable, or start in another folder"
    )


def test_a_file_in_its_place(tmp_path):
    (tmp_path / "outputs").touch()
    with pytest.raises(Fault) as caught:
        run_request.usable_work(PLAN, Store(tmp_path / "outputs"), False)
    assert caught.value.status == 3
    assert str(caught.value).startswith(f"{tmp_path}/outputs cannot be written: ")


def test_a_server_that_no_site_file_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "")
    Path("a.yaml").write_text(
        "title: t\nbuilds: {prod: {engine: mysql, version: 8.0.40, source: {server: prod}}}\n"
        "steps: [{name: q, kind: sql, sql: [select 1]}]\n"
    )
    with pytest.raises(Fault) as caught:
        pipeline.remaining_work({"spec": "a.yaml"})
    lacks = "there is no site file that says how the server `prod` is reached: `servers: {prod: …}` in site.yaml"
    assert str(caught.value) == f"a.yaml:2:10: build prod: {lacks}"


# Steps and engines that this version cannot run

MADE = PlannedBuild("b-1", "rocksdb", "rocksdb", "9.10.0", {"system": "db_bench"}, "a.yaml:2:3")


@pytest.fixture
def declared_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds and engines that this version runs, whatever a later one can."""
    from stepgrid.plugins import registry

    monkeypatch.setattr(
        registry, "unrunnable_kinds", lambda kinds: tuple(k for k in dict.fromkeys(kinds) if k == "sysbench")
    )
    monkeypatch.setattr(
        registry, "unrunnable_engines", lambda names: tuple(n for n in dict.fromkeys(names) if n == "mysql")
    )


def _build(name: str, engine: str, source: dict[str, Any], where: str) -> PlannedBuild:
    return PlannedBuild(f"b-{name}", name, engine, "1.0", source, where)


def _stage(*kinds_of_steps: str, number: int = 1) -> PlannedStage:
    steps = tuple(PlannedStep(f"{kind}.1", kind, 1, {}, {}, 1) for kind in kinds_of_steps)
    return PlannedStage(f"s-{number}", "t", "b-1", None, (), 0, 0, "h", steps, 1.0, 0)


def test_what_runs_is_not_refused() -> None:
    assert unsupported("a.yaml", [MADE], [_stage("db_bench", "command")]) == []


@pytest.mark.usefixtures("declared_only")
def test_each_kind_of_step_is_named_once() -> None:
    stages = [_stage("db_bench", "sysbench"), _stage("sysbench", number=2)]
    assert unsupported("a.yaml", [MADE], stages) == [
        "a.yaml: this version checks and plans steps of kind sysbench; it cannot run them yet"
    ]


@pytest.mark.usefixtures("declared_only")
def test_engines_are_named_with_the_first_build_of_them() -> None:
    git = {"git": "https://a.example/r.git", "ref": "v1"}
    builds = [MADE, _build("my1", "mysql", git, "a.yaml:3:3"), _build("my2", "mysql", git, "a.yaml:4:3")]
    assert unsupported("a.yaml", builds, []) == [
        "a.yaml:3:3: this version checks and plans the engine mysql; it cannot run it yet"
    ]


def test_binaries_that_are_made_already_honour_no_recipe() -> None:
    patched = replace(MADE, recipe={"patches": ["a.patch"], "flags": {"march": "native"}})
    assert unsupported("a.yaml", [MADE, patched], []) == [
        "a.yaml:2:3: the binaries of `source: system` are made already: no `patches` and `flags` for them; "
        "leave them out, or build from source"
    ]


def test_an_extension_may_come_in_a_package() -> None:
    asked = {"extensions": {"pgvector": "0.8.0"}}
    package = replace(MADE, engine="postgres", source={"debian": "postgresql-17", "suite": "trixie"}, recipe=asked)
    own = replace(package, source={"system": "postgres"})
    assert unsupported_recipes([package]) == []
    assert unsupported_recipes([own]) == [
        "a.yaml:2:3: the binaries of `source: system` are made already: no `extensions` for them; "
        "leave them out, or build from source"
    ]


def test_which_programs_of_a_package_are_run_is_no_recipe() -> None:
    fio = PlannedBuild("b-1", "fio", "program", "", {"debian": "fio", "suite": "x"}, "a.yaml:2:3")
    chosen = replace(fio, recipe={"flags": {"programs": "fio"}})
    made = replace(fio, recipe={"flags": {"programs": "fio", "command": "make"}})
    assert unsupported("a.yaml", [chosen], []) == []
    assert unsupported("a.yaml", [made], []) == [
        "a.yaml:2:3: the binaries of `source: debian` are made already: no `flags` for them; "
        "leave them out, or build from source"
    ]


@pytest.mark.parametrize("key", ["sql", "counters"])
def test_probes_that_need_a_server(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    probes = {"before": [{"name": "rows", key: "select 1"}], "after": [{"name": "du", "command": ["du"]}]}
    stage = _stage("db_bench")
    stage = replace(stage, steps=(replace(stage.steps[0], setup=probes),))
    said = f"a.yaml: probe `rows` asks for `{key}`, which needs a server; rocksdb is none"
    assert unsupported("a.yaml", [MADE], [stage, stage]) == [said]


def test_a_power_cut_is_refused_by_a_host_that_cannot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    steps = {how: replace(_stage("crash").steps[0], settings={"how": how}) for how in ("kill", "power")}
    stages = {how: replace(_stage("crash"), steps=(step,)) for how, step in steps.items()}
    assert unsupported("a.yaml", [MADE], [stages["kill"]]) == []
    message = f"a.yaml: step `{steps['power'].name}` cuts the power of a disk, which this host cannot: it needs root"
    assert unsupported("a.yaml", [MADE], [*stages.values()]) == [message]


@pytest.mark.usefixtures("declared_only")
def test_nothing_starts_of_a_plan_that_cannot_be_run(tmp_path: Path) -> None:
    plan = Plan("p", "t", "a.yaml", None, (), (), (MADE,), (_stage("sysbench"),), {"id": "h"}, Report())
    (tmp_path / "outputs").mkdir()
    work = run_request.remaining_work(plan, Store(tmp_path / "outputs"))
    with pytest.raises(Fault) as caught:
        run_request.refuse_unsupported(work)
    assert str(caught.value) == "a.yaml: this version checks and plans steps of kind sysbench; it cannot run them yet"


def test_unrunnable_knows_every_kind() -> None:
    assert set(unrunnable_kinds(DRIVERS.names())) <= set(DRIVERS.names())
