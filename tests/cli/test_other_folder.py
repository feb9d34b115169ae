"""Commands in a folder without `outputs/`, where another folder has it."""

import os
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.cli.commands import BESIDE_SPEC, every_command
from stepgrid.pipeline import remaining_work
from stepgrid.workflow import host_plan, run_request
from stepgrid.workflow.run_request import Refusal
from tests.cases import rows
from tests.cli.worlds import kept, measured

WORDS = rows(__file__, "words")


def say(home, here):
    return f"no `outputs/` in {here}, but in {home}. Use that: `cd {home}`; or start a new one here: `mkdir outputs`\n"


@pytest.fixture
def below(folder, monkeypatch):
    """The current folder: below a checkout with a plan."""
    kept()
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder / "sub")
    return folder / "sub"


@pytest.mark.parametrize("command", [command.name for command in every_command().values() if command.results])
def test_below_a_checkout_its_folder_is_named(command, below, capsys):
    words = [word.replace("SPEC", "../a.yaml") for word in WORDS.get(command, [command, "SPEC"])]
    assert main(words) == 2
    assert capsys.readouterr() == ("", say(below.parent, below))


def test_a_run_starts_nothing_there(below):
    with pytest.raises(Refusal) as caught:
        remaining_work({"spec": "../a.yaml"})
    assert (f"{caught.value}\n", caught.value.status) == (say(below.parent, below), 2)
    assert [*below.iterdir()] == []


def test_a_new_folder_is_begun_by_hand(below, capsys):
    (below / "outputs").mkdir()
    assert main(["status", "../a.yaml"]) == 0
    assert main(["plans"]) == 0


@pytest.mark.parametrize("words", ["status", "report", "plan", "run -n"])
@pytest.mark.parametrize("has_outputs", [True, False], ids=["outputs of its own", "no outputs"])
def test_results_of_the_plan_elsewhere_are_named(words, has_outputs, folder, monkeypatch, capsys):
    plan = kept()
    measured(plan, plan.stages[:2])
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder / "sub")
    if has_outputs:
        (folder / "sub/outputs").mkdir()
    else:
        away = folder.parent / f"{folder.name} away"
        away.mkdir()
        monkeypatch.chdir(away)
    run_request.requested_plan.cache_clear()
    command, *options = words.split()
    main([command, os.path.relpath(folder / "a.yaml"), *options])
    told = " ".join(capsys.readouterr().err.split())
    if has_outputs or command in ("plan", "run"):
        count = f"2 of {len(plan.stages)} stages have results in {folder}/outputs, none has one here"
        assert f"{count}; use those by `cd {folder}`" in told
    else:
        assert told == say(folder, Path.cwd()).strip()


def test_nothing_is_said_where_there_are_results(folder, monkeypatch):
    plan = kept()
    measured(plan, plan.stages[:2])
    assert host_plan.other_results(plan) == ""


def test_check_needs_no_results(below):
    assert main(["check", "../a.yaml"]) == 0


def test_beside_a_checkout_what_reads_the_results_of_a_spec_names_its_folder(
    folder, tmp_path_factory, monkeypatch, capsys
):
    kept()
    other = tmp_path_factory.mktemp("other")
    monkeypatch.chdir(other)
    reading = {command.name for command in every_command().values() if command.results == BESIDE_SPEC}
    for command in sorted(reading - {"retract"}):
        words = [word.replace("SPEC", str(folder / "a.yaml")) for word in WORDS.get(command, [command, "SPEC"])]
        assert main(words) == 2
        assert capsys.readouterr() == ("", say(folder, other))
    assert main(["plan", str(folder / "a.yaml")]) == 0


def test_a_folder_that_is_merely_called_so_is_none(tmp_path, monkeypatch, folder, capsys):
    (folder / "sub").mkdir()
    monkeypatch.chdir(folder / "sub")
    assert main(["status", "../a.yaml"]) == 0
