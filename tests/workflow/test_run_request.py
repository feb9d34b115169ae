"""A request to run: its words, its plan, and the reasons why nothing is started."""

import os
import subprocess
from datetime import date
from pathlib import Path

import pytest
from msgspec import convert
from snakemake.cli import parse_config
from snakemake_interface_executor_plugins.utils import format_cli_arg

from stepgrid import pipeline
from stepgrid.cli import main
from stepgrid.host import sysfs
from stepgrid.language.site import VARIABLE
from stepgrid.model.plan import PlannedBuild, PlannedStage, PlannedStep
from stepgrid.model.records import StepSetup, replace
from stepgrid.store.store import Store
from stepgrid.workflow import run_request
from stepgrid.workflow.host_plan import ALL_WARNINGS, warnings_once_a_day
from stepgrid.workflow.run_request import Refusal, own_section, quote_texts, read_texts, unsupported
from tests.store.test_results import ONE_PLAN as PLAN

TEXTS = ["cache != 'half'", '"a" == cache', "params.x='1'", "params.argv=[sh, -c, \"echo '$HOME' `id` \\\\ a\"]", "x=1"]


def in_a_job(arguments):
    """As the executor for SLURM gives them: Python's quotes, within a shell's."""
    command = format_cli_arg("--config", arguments).replace('"', '\\"')
    told = subprocess.run(["sh", "-c", f'printf %s "{command}"'], check=True, capture_output=True, text=True).stdout
    shell = f"printf '%s\\0' {told}"
    said = subprocess.run(["sh", "-c", shell], check=True, capture_output=True, text=True).stdout
    return said.split("\0")[1:-1]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_reaches_a_job_as_it_was_written(text):
    config = parse_config(in_a_job([f"only={quote_texts([text])}"]))
    assert read_texts(config["only"]) == (text,)


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
def test_an_unknown_key_or_an_unusable_value_is_a_wrong_call(text):
    with pytest.raises(Refusal) as caught:
        pipeline.remaining_work(parse_config([text, *(["spec=a.yaml"] if not text.startswith("spec") else [])]))
    assert (str(caught.value), caught.value.status) == (f"Snakemake's config: {FAULTS[text]}", 2)


SHARED = {"samples": "a.tsv", "stepgrid": {"spec": "a.yaml", "scale": "smoke"}}


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ({"scale": "smoke"}, "`scale` beside the section `stepgrid`, which alone counts: write it there"),
        ({"stepgrid": "a.yaml"}, "stepgrid=a.yaml: expected a map: stepgrid={spec: FILE}"),
    ],
)
def test_a_section_that_would_lose_a_word_is_refused(more, fault):
    with pytest.raises(Refusal) as caught:
        own_section(SHARED | more)
    assert (str(caught.value), caught.value.status) == (f"Snakemake's config: {fault}", 2)


def test_a_folder_that_cannot_be_written_is_told_before_anything_starts(tmp_path, monkeypatch):
    store = Store(tmp_path / "outputs")
    (store.root / "results").mkdir(parents=True)
    monkeypatch.setattr(os, "access", lambda path, mode: path != store.root / "results")
    with pytest.raises(Refusal) as caught:
        run_request.usable_work(PLAN, store, False)
    assert caught.value.status == 3
    assert str(caught.value) == (
        f"{store.root} cannot be written: no permission to write ({store.root}/results); "
        "make it writable, or start in another folder"
    )


def test_a_server_that_no_site_file_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "")
    Path("a.yaml").write_text(
        "title: t\nbuilds: {prod: {engine: mysql, version: 8.0.40, source: {server: prod}}}\n"
        "steps: [{name: q, kind: sql, sql: [select 1]}]\n"
    )
    with pytest.raises(Refusal) as caught:
        pipeline.remaining_work({"spec": "a.yaml"})
    lacks = "there is no site file that says how the server `prod` is reached: `servers: {prod: …}` in site.yaml"
    assert str(caught.value) == f"a.yaml:2:10: build prod: {lacks}"


# Steps and engines that this version cannot run

MADE = PlannedBuild("b-1", "rocksdb", "rocksdb", "9.10.0", {"system": "db_bench"}, "a.yaml:2:3")


def _stage(*kinds_of_steps, number=1):
    steps = tuple(PlannedStep(f"{kind}.1", kind, 1, {}, {}, 1) for kind in kinds_of_steps)
    return PlannedStage(f"s-{number}", "t", "b-1", None, (), 0, 0, "h", steps, 1.0, 0)


def test_binaries_that_are_made_already_honour_no_recipe():
    patched = replace(MADE, recipe={"patches": ["a.patch"], "flags": {"march": "native"}})
    assert unsupported("a.yaml", [MADE, patched], []) == [
        "a.yaml:2:3: the binaries of `source: system` are made already: no `patches` and `flags` for them; "
        "leave them out, or build from source"
    ]


@pytest.mark.parametrize("key", ["sql", "counters"])
def test_probes_that_need_a_server(key, monkeypatch):
    probes = {"before": [{"name": "rows", key: "select 1"}], "after": [{"name": "du", "command": ["du"]}]}
    stage = _stage("db_bench")
    stage = replace(stage, steps=(replace(stage.steps[0], setup=convert(probes, StepSetup)),))
    said = f"a.yaml: probe `rows` asks for `{key}`, which needs a server; rocksdb is none"
    assert unsupported("a.yaml", [MADE], [stage, stage]) == [said]


def test_a_power_cut_is_refused_by_a_host_that_cannot(tmp_path, monkeypatch):
    monkeypatch.setattr(sysfs, "ROOT", tmp_path)
    steps = {how: replace(_stage("crash").steps[0], settings={"how": how}) for how in ("kill", "power")}
    stages = {how: replace(_stage("crash"), steps=(step,)) for how, step in steps.items()}
    assert unsupported("a.yaml", [MADE], [stages["kill"]]) == []
    message = f"a.yaml: step `{steps['power'].name}` cuts the power of a disk, which this host cannot: it needs root"
    assert unsupported("a.yaml", [MADE], [*stages.values()]) == [message]


TEXT = "a.yaml:1:1: warning[no-repeats]: 2 cells\n   1 | title\n\na.yaml:2:1: warning[step-short]: 1 s"


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(ALL_WARNINGS, raising=False)
    (tmp_path / "outputs").mkdir()
    return Store(Path("outputs"))


def test_another_day_shows_all(store, monkeypatch):
    class Tomorrow(date):
        @classmethod
        def today(cls):
            return cls(2999, 1, 1)

    warnings_once_a_day(store, "a.yaml", TEXT)
    monkeypatch.setattr("datetime.date", Tomorrow)
    assert warnings_once_a_day(store, "a.yaml", TEXT) == TEXT


def test_plan_and_its_option(store, capsys):
    Path("a.yaml").write_text(
        "title: t\nbuilds: {p: {engine: program, source: {system: python3}}}\nsweep: {size: [1, 2]}\n"
        'steps: [{name: run, kind: command, argv: ["{program:python3}", "{{ params.size }}"]}]\n'
    )
    said = []
    for more in ([], [], ["--all-warnings"]):
        assert main(["plan", "a.yaml", *more]) == 0
        said.append(capsys.readouterr().err)
    assert said[0].startswith("a.yaml:1:1: warning[no-repeats]: ")
    assert said[1] == "a.yaml: 1 warning, already shown today; --all-warnings shows them again\n"
    assert said[2] == said[0]
    assert main(["check", "a.yaml"]) == 0
    assert capsys.readouterr().err == said[0]
