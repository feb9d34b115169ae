"""What stored plans need, by their specs as these are now, wherever they lie."""

from pathlib import Path

import pytest

from stepgrid.plan.assembly import compile_spec
from stepgrid.store import plans
from stepgrid.store.plans import Request
from stepgrid.store.store import Store
from stepgrid.workflow import plan_cache
from stepgrid_inspect.disk import references
from tests.cli.samples import SPEC

OTHER_HOST = {"cpu": "another", "cores": 2, "memory": 2**33}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    folder = tmp_path / "checkout"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "my.yaml").write_text(SPEC)
    return folder


def run(spec="my.yaml", scale=None, only=None, sets=()):
    """As a run keeps its plan."""
    plan, _ = plan_cache.load_or_compile(Store(), Request(spec, scale, only, sets))
    plans.publish(Store(), plan)
    return plan


def found(*given, forgotten=()):
    return references(Store(), given, forgotten)


def stages(plan):
    return {stage.id for stage in plan.stages}


def test_a_stored_plan_names_its_spec(folder):
    elsewhere = folder.parent / "elsewhere.yaml"
    elsewhere.write_text(SPEC.replace("200k", "300k"))
    needed = [run(), run(str(elsewhere)), run("../elsewhere.yaml")]
    said = found()
    assert said.stages == set().union(*map(stages, needed))
    assert said.builds == {build.id for plan in needed for build in plan.builds}
    assert said.plans == {plan.digest for plan in needed}
    assert sorted(said.specs) == sorted(["my.yaml", str(elsewhere), "../elsewhere.yaml"])
    assert said.notes == []


def test_a_spec_needs_what_it_says_now_and_its_last_plan_stays(folder):
    first, second = run(), _edited("300k")
    third = _edited("400k")
    (folder / "my.yaml").write_text(SPEC.replace("200k", "500k"))
    said = found()
    assert said.stages.isdisjoint(stages(first) | stages(second) | stages(third))
    assert len(said.stages) == len(first.stages)
    assert third.digest in said.plans  # by it the next gc finds the spec
    assert {first.digest, second.digest}.isdisjoint(said.plans)


def _edited(keys):
    Path("my.yaml").write_text(SPEC.replace("200k", keys))
    return run()


def test_overrides_are_compiled_again():
    small, one = run(sets=("params.keys=1k",)), run(only="threads == 1", sets=("params.duration=1m",))
    Path("my.yaml").write_text(SPEC.replace("title: t", "title: another"))
    said = found()
    assert stages(small) | stages(one) <= said.stages
    assert {small.digest, one.digest} <= said.plans


@pytest.mark.parametrize("text", [None, SPEC.replace("keys:", "kees:"), "title: ["])
def test_a_spec_that_cannot_be_compiled_keeps_all_results(text, folder):
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


def test_results_of_another_machine_stay():
    theirs = compile_spec("my.yaml", None, OTHER_HOST)
    plans.publish(Store(), theirs)
    run()
    Path("my.yaml").write_text(SPEC.replace("200k", "300k"))
    said = found()
    assert stages(theirs) <= said.stages
    folder, machine = Store().plan(theirs.digest), theirs.hardware["id"]
    assert said.notes == [f"{folder} of my.yaml is about another machine ({machine}); all its results stay"]
