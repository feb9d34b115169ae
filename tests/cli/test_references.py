"""What stored plans need, by their specs as these are now, wherever they lie."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.cli.disk import References, references
from stepgrid.cli.failures import CommandError
from stepgrid.model.plan import Plan
from stepgrid.plan import plan_file
from stepgrid.plan.assembly import compile_spec
from stepgrid.store import plans
from stepgrid.store.plans import Request
from stepgrid.store.store import Store
from stepgrid.workflow import plan_cache
from tests.cli.samples import SPEC

SCALED = SPEC + "scales: {smoke: {params: {keys: 1k}}}\n"
OTHER_HOST = {"cpu": "another", "cores": 2, "memory": 2**33}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "my.yaml").write_text(SPEC)
    return folder


def run(spec: str = "my.yaml", scale: str | None = None, only: str | None = None, sets: tuple[str, ...] = ()) -> Plan:
    """As a run keeps its plan."""
    plan, _ = plan_cache.load_or_compile(Store(), Request(spec, scale, only, sets))
    plans.publish(Store(), plan)
    return plan


def found(*given: str, forgotten: Collection[str] = ()) -> References:
    return references(Store(), given, forgotten)


def stages(plan: Plan) -> set[str]:
    return {stage.id for stage in plan.stages}


def test_a_stored_plan_names_its_spec(folder: Path) -> None:
    elsewhere = folder.parent / "elsewhere.yaml"
    elsewhere.write_text(SPEC.replace("200k", "300k"))
    needed = [run(), run(str(elsewhere)), run("../elsewhere.yaml")]
    said = found()
    assert said.stages == set().union(*map(stages, needed))
    assert said.builds == {build.id for plan in needed for build in plan.builds}
    assert said.plans == {plan.digest for plan in needed}
    assert sorted(said.specs) == sorted(["my.yaml", str(elsewhere), "../elsewhere.yaml"])
    assert said.notes == []


def test_a_spec_needs_what_it_says_now_and_its_last_plan_stays(folder: Path) -> None:
    first, second = run(), _edited("300k")
    third = _edited("400k")
    (folder / "my.yaml").write_text(SPEC.replace("200k", "500k"))
    said = found()
    assert said.stages.isdisjoint(stages(first) | stages(second) | stages(third))
    assert len(said.stages) == len(first.stages)
    assert third.digest in said.plans  # by it the next gc finds the spec
    assert {first.digest, second.digest}.isdisjoint(said.plans)


def _edited(keys: str) -> Plan:
    Path("my.yaml").write_text(SPEC.replace("200k", keys))
    return run()


def test_an_edit_that_was_undone_keeps_the_plan_that_was_run_last() -> None:
    first = run()
    _edited("300k")
    _edited("200k")
    Path("my.yaml").write_text(SPEC.replace("200k", "500k"))
    assert first.digest in found().plans


def test_all_scales_are_needed(folder: Path) -> None:
    (folder / "my.yaml").write_text(SCALED)
    run()
    small = plan_cache.load_or_compile(Store(), Request("my.yaml", "smoke"))[0]
    assert stages(small) <= found().stages


def test_a_scale_that_was_removed_is_not_needed(folder: Path) -> None:
    (folder / "my.yaml").write_text(SCALED)
    small = run(scale="smoke")
    (folder / "my.yaml").write_text(SPEC)
    said = found()
    assert stages(small).isdisjoint(said.stages)
    assert said.notes == []


def test_overrides_are_compiled_again() -> None:
    small, one = run(sets=("params.keys=1k",)), run(only="threads == 1", sets=("params.duration=1m",))
    Path("my.yaml").write_text(SPEC.replace("title: t", "title: another"))
    said = found()
    assert stages(small) | stages(one) <= said.stages
    assert {small.digest, one.digest} <= said.plans


@pytest.mark.parametrize("text", [None, SPEC.replace("keys:", "kees:"), "title: ["])
def test_a_spec_that_cannot_be_compiled_keeps_all_results(text: str | None, folder: Path) -> None:
    first, second = run(), _edited("300k")
    (folder / "my.yaml").unlink() if text is None else (folder / "my.yaml").write_text(text)
    said = found()
    assert said.stages == stages(first) | stages(second)
    assert {first.digest, second.digest} == said.plans
    (sentence,) = said.notes
    assert sentence.startswith("my.yaml cannot be compiled: ")
    end = "; all results of its 2 stored plans stay; `stepgrid gc --forget my.yaml` goes on without it"
    assert sentence.endswith(end)
    assert found(forgotten=["my.yaml"]).stages == set()


def test_a_file_that_is_gone_is_named() -> None:
    run()
    Path("my.yaml").unlink()
    said = (
        "my.yaml cannot be compiled: there is no file `my.yaml`; all results of its stored plan stay; "
        "`stepgrid gc --forget my.yaml` goes on without it"
    )
    assert found().notes == [said]


def test_overrides_that_fit_no_more_are_named() -> None:
    run()
    one = run(only="threads == 1", sets=("params.duration=1m",))
    Path("my.yaml").write_text(SPEC.replace("{threads: {param", "{clients: {param"))
    (said,) = found().notes
    assert said.startswith("my.yaml with --only 'threads == 1' --set params.duration=1m cannot be compiled: ")
    end = f"; all results of its 2 stored plans stay; `stepgrid gc --forget {one.digest}` goes on without it"
    assert said.endswith(end)
    assert found(forgotten=[one.digest]).notes == []


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    plan = run()
    (folder / "my.yaml").unlink()
    os.mkfifo("my.yaml")
    assert found().stages == stages(plan)
    assert found().notes[0].startswith("my.yaml cannot be compiled: `my.yaml` is not a file; ")


def test_a_new_spec_counts_when_it_is_named() -> None:
    assert found().specs == []
    assert found("my.yaml").stages == stages(plan_cache.load_or_compile(Store(), Request("my.yaml"))[0])


def test_results_of_another_machine_stay() -> None:
    theirs = compile_spec("my.yaml", None, OTHER_HOST)
    plans.publish(Store(), theirs)
    run()
    Path("my.yaml").write_text(SPEC.replace("200k", "300k"))
    said = found()
    assert stages(theirs) <= said.stages
    folder, machine = Store().plan(theirs.digest), theirs.hardware["id"]
    assert said.notes == [f"{folder} of my.yaml is about another machine ({machine}); all its results stay"]


def test_a_machine_that_the_spec_describes_is_no_other(folder: Path) -> None:
    described = SPEC + "hardware: {id: big, cores: 64, memory: 1TiB}\n"
    (folder / "my.yaml").write_text(described)
    old = run()
    (folder / "my.yaml").write_text(described.replace("200k", "300k"))
    assert stages(old).isdisjoint(found().stages)


def test_plans_that_came_with_results_stay_whole() -> None:
    plan = run()
    Store().texts(plan.digest).mkdir()
    Path("my.yaml").write_text(SPEC.replace("200k", "300k"))
    assert stages(plan) <= found().stages


def test_a_plan_that_cannot_be_read_stops_it(capsys: pytest.CaptureFixture[str]) -> None:
    plan = run()
    folder = Store().plan(plan.digest)
    (folder / plan_file.PLAN_FILE).write_text("{")
    said = (
        f"{folder} cannot be read, so the results that it needs are unknown: nothing was moved; "
        f"`stepgrid gc --forget {plan.digest}` goes on without it"
    )
    with pytest.raises(CommandError) as unreadable:
        found()
    assert str(unreadable.value) == said
    (Store().root / "results" / "s-0").mkdir(parents=True)
    assert main(["gc", "--yes"]) == 1
    assert capsys.readouterr().err == f"{said}\n"
    assert (Store().root / "results" / "s-0").is_dir()
    assert main(["gc", "my.yaml", "--forget", plan.digest]) == 0


def test_what_is_forgotten_may_be_needed_by_others() -> None:
    Path("other.yaml").write_text(SPEC.replace("title: t", "title: u"))
    plan, _ = run(), run("other.yaml")
    said = found(forgotten=["my.yaml"])
    assert (said.specs, said.stages) == (["other.yaml"], stages(plan))
