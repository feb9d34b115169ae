import json
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.plugins import registry
from stepgrid.plugins.registry import ENGINES
from stepgrid_inspect import new


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("engine", new.engines())
@pytest.mark.parametrize("scale", [[], ["--scale", "smoke"]])
def test_a_new_spec_is_fine_as_it_is(engine, scale, capsys):
    assert main(["new", engine]) == 0
    assert capsys.readouterr().out == f"wrote specs/{engine}.yaml; next: stepgrid plan specs/{engine}.yaml\n"
    assert main(["check", f"specs/{engine}.yaml", *scale]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"specs/{engine}.yaml: fine; ")
    assert said.err == ""


def test_every_engine_but_the_client_is_offered():
    assert set(new.engines()) == set(ENGINES.names()) - {"sysbench"}


@pytest.mark.parametrize("engine", new.engines())
def test_what_cannot_be_run_is_said_in_the_spec(engine, capsys):
    assert main(["new", engine]) == 0
    text = Path(f"specs/{engine}.yaml").read_text(encoding="utf-8")
    planned = "kind: sysbench" in text and registry.runner("sysbench") is None
    assert ("it does not run sysbench yet" in " ".join(text.replace("#", "").split())) is planned
    assert registry.is_runnable(engine)


@pytest.mark.parametrize("engine", new.engines())
def test_a_new_spec_is_small_and_planned(engine, capsys):
    assert main(["new", engine]) == 0
    text = Path(f"specs/{engine}.yaml").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    capsys.readouterr()
    assert main(["plan", f"specs/{engine}.yaml", "--format", "json"]) == 0
    said = capsys.readouterr()
    totals = json.loads(said.out)["totals"]
    builds = 2 + ("engine: sysbench" in text)
    assert (totals["builds"], totals["saved_seconds"] > 0, said.err) == (builds, True, "")
