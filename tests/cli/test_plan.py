"""stepgrid plan, against a store whose results are put there by hand; the engines are another test's."""

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import msgpack

from stepgrid.cli import main
from stepgrid.store.store import Store
from tests.cli.samples import SPEC
from tests.cli.worlds import built, kept, measured

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("folder")


def told(capsys, *arguments):
    assert main(["plan", "a.yaml", *arguments]) == 0
    return capsys.readouterr().out


def test_the_spread_of_repeats_says_what_a_small_difference_needs(folder, capsys):
    (folder / "a.yaml").write_text(SPEC + "repeat: 2\n")
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    for stage in plan.stages:
        figures = {"steps": [{"metrics": {"qps": 100.0 + 2 * stage.load}}]}
        path = Store().root / "results" / stage.id / "20260101T000000.000000Z" / "figures.0.msgpack"
        path.write_bytes(bytes(32) + msgpack.encode(figures))
    text = "loads differ by 1.4 % (readww): a difference of 3 % shows with 6 loads (18m00s), a verdict beyond"
    assert f"  repeats  {text[:70]}" in told(capsys)
    assert f" {text} 2 % with 35 loads " in " ".join(told(capsys).split()) + " "


@pytest.mark.parametrize(
    "words",
    [["plan", "a.yaml"], ["parse", "db_bench", "fill.log"], ["run", "a.yaml", "-n"]],
    ids=["plan", "parse", "run"],
)
def test_no_heavy_import(words):
    result = "2.559 micros/op 390826 ops/sec 1.279 seconds 500000 operations;   43.2 MB/s"
    Path("fill.log").write_text(f"fillseq      :       {result}\n")
    code = f"import sys; from stepgrid.cli import main; assert main({words}) == 0; print(*sys.modules)"
    env = {"PYTHONPATH": str(ROOT / "compiler")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not {"duckdb", "scipy", "snakemake", "numpy"} & set(done.stdout.split())
