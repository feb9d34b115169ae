"""stepgrid redo, results, retract and images, against a store whose results are put there by hand."""

import re
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.host.locks import locked
from stepgrid.store.store import Store
from tests.cli.worlds import built, kept, measured

pytestmark = pytest.mark.usefixtures("folder", "account")
TIME = "20260101T000000.000000Z"


@pytest.fixture
def account(monkeypatch):
    """Whoever runs the tests: a longer name breaks lines elsewhere."""
    monkeypatch.setenv("LOGNAME", "me")


@pytest.fixture
def plan():
    """All of it is measured."""
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    return plan


def out(capsys, *words, status=0):
    assert main(list(words)) == status
    said = capsys.readouterr()
    text = said.err if status else said.out
    return re.sub(r"s-[0-9a-f]{20}", "s-ID", re.sub(r"by me, \d{4}-\d\d-\d\d \d\d:\d\d UTC", "by me, TIME", text))


def test_retract_wants_a_retraction_to_undo_and_no_run_beside_it(plan, capsys):
    stage = plan.stages[0].id
    assert out(capsys, "retract", f"{stage}/{TIME}", "--undo", status=2) == (
        f"outputs/results/s-ID/{TIME} was not retracted\n"
    )
    with locked(Store().lock("run")):
        said = out(capsys, "retract", f"{stage}/{TIME}", "--why", "y", status=3)
    assert re.sub(r"\d+", "N", said) == (
        "a run is active in this checkout (pid N): nothing was changed; try again later\n"
    )
    assert Store().result(stage)


def test_a_damaged_image_is_planned_with_why(plan, capsys):
    from stepgrid.run.images import SavingRules, save

    load = next(stage for stage in plan.stages if stage.parent is None and "7.8.3" in stage.title)
    assert main(["redo", "a.yaml", "build=rocksdb-7.8.3,threads=2"]) == 0
    live = Path("live")
    live.mkdir()
    (live / "a").write_text("xx")
    save(Store(), load.id, load.id, live, SavingRules())
    capsys.readouterr()
    assert "replay" not in out(capsys, "plan", "a.yaml")
    (Store().image(load.id) / "data" / "a").write_text("yy")
    assert (
        "replay (done): 1 stage, about 30s\n    the image is damaged: a is not what was saved: its checksum differs\n"
    ) in out(capsys, "plan", "a.yaml")
