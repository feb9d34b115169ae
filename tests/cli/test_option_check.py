"""Options that the builds which are there would not take: `check`, `plan` and the start of `run` say so."""

import pytest

from stepgrid.cli import main
from stepgrid.model.records import OptionInfo
from stepgrid.package import SPECS
from stepgrid.plan.assembly import scales
from stepgrid.plugins.engine import option_fault
from stepgrid.plugins.registry import engine
from stepgrid.workflow import run_request

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(autouse=True)
def compiled_anew():
    run_request.requested_plan.cache_clear()
    yield
    run_request.requested_plan.cache_clear()


def test_each_engine_tells_the_unit_that_was_meant():
    number = OptionInfo(type="number")
    assert (option_fault(engine("postgres"), number, "64KB") or "").endswith("; did you mean `64kB`?")
    assert option_fault(engine("postgres"), number, "64MB") is None
    assert (option_fault(engine("mysql"), number, "64MB") or "").endswith("; did you mean `64MiB`?")
    assert option_fault(engine("mysql"), number, "64M") is None


def test_nothing_is_probable_in_what_is_shipped(capsys):
    for spec in sorted([*SPECS.glob("*[!k].yaml"), *SPECS.glob("posts/*.yaml")]):  # no lock file
        main(["check", str(spec), *(["--scale", "smoke"] if "smoke" in scales(str(spec)) else [])])
        assert "option]" not in capsys.readouterr().err, spec
