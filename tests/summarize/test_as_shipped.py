"""`allow: {mixed-quality: …}`: products are compared as they are shipped, and the report says so."""

from __future__ import annotations

from pathlib import Path

from tests.summarize import scenario
from tests.summarize.scenario import NEW, OLD
from tests.summarize.synthetic import Experiment

UNLIKE = f"{OLD} and {NEW} were built differently: suite bullseye / bookworm"
EXPECT = f"qps(build='{NEW}') > 1.5 * qps(build='{OLD}')"


def text(root: Path, **said: str) -> str:
    found = Experiment(
        root,
        builds=(OLD, NEW),
        caches=("lru",),
        threads=("1",),
        base={"build": OLD},
        seconds=1,
        claims=[{"claim": "twice as fast", "expect": EXPECT, "where": {"step": "readww"}}],
        **said,  # type: ignore[arg-type]
    )
    for number, build in enumerate((OLD, NEW), 1):
        found.add_build(build)
        for load in range(3):
            rate = 1000.0 * number * (1 + load / 1000)
            found.add_load(build, load)
            found.add(build, "lru", "1", load, {"readww": rate, "overwrite": rate})
    scenario.report(found)
    return " ".join(scenario.text(found).split())


def test_without_it_there_is_no_verdict(tmp_path: Path) -> None:
    said = text(tmp_path)
    assert "readww 1,000 2.00 [1.99, 2.01] * overwrite" in said
    assert f"* no verdict: {UNLIKE}" in said
    assert "undecided: twice as fast" in said
    assert "ratios across builds carry no verdict: the binaries were not made alike (suite bullseye / bookworm)" in said


def test_with_it_verdicts_are_marked(tmp_path: Path) -> None:
    said = text(tmp_path, as_shipped="users install packages")
    assert "readww 1,000 2.00 [1.99, 2.01] faster ‡ overwrite" in said
    assert f"‡ as shipped: {UNLIKE}" in said
    assert "holds: twice as fast" in said
    assert "builds are compared as shipped (users install packages): the binaries were not made alike" in said
    assert "no verdict" not in said
