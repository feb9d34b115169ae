"""Builds as a report has them: engines and clients, in words, and which get a verdict against each other."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.plan import SAME_QUALITY
from tests.summarize import scenario
from tests.summarize.scenario import NEW, OLD
from tests.summarize.synthetic import Experiment

RELEASES = (OLD, NEW, "rocksdb-9.10.0")
SLOW = "assertions yes / no"
SHIPPED = f"‡ as shipped: {OLD} and {NEW} were built differently: "
REFUSED = f"* no verdict: {OLD} and {NEW} were built differently: "
REPORTS: dict[str, tuple[dict[str, Any], bool, tuple[str, ...]]] = {
    "packages of three suites get verdicts that are marked": (
        {}, True,
        ("2.00 [1.99, 2.01] faster ‡ 4.00 [3.99, 4.02] faster ‡", f"{SHIPPED}suite bullseye / bookworm",
         f"{NEW}: 2.00× the QPS of {OLD} in readww, overwrite; the same in fillseq faster, certain",
         "holds: twice as fast",
         "builds are compared as shipped, though made differently: suite bullseye / bookworm / trixie"),
    ),
    "strict refuses them": (
        {"strict": SAME_QUALITY}, True,
        ("2.00 [1.99, 2.01] * 4.00 [3.99, 4.02] *", f"{REFUSED}suite bullseye / bookworm", "undecided: twice as fast",
         "builds that were made differently get no verdict against each other: suite bullseye / bookworm"),
    ),
    "assertions on one side refuse that pair alone": (
        {}, False,
        ("2.00 [1.99, 2.01] * 4.00 [3.99, 4.02] faster ‡", f"{REFUSED}{SLOW}",
         f"builds that differ in this get no verdict against each other: {SLOW}"),
    ),
    "allow compares whatever differs and gives the reason": (
        {"as_shipped": "users install packages", "strict": SAME_QUALITY}, False,
        ("2.00 [1.99, 2.01] faster ‡ 4.00 [3.99, 4.02] faster ‡", "holds: twice as fast", f"{SHIPPED}suite",
         f"builds are compared as shipped (users install packages), though made differently: {SLOW}; suite"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "has_assertions", "texts"), REPORTS.values(), ids=REPORTS)
def test_three_releases_as_debian_ships_them(
    tmp_path: Path, spec: dict[str, Any], has_assertions: bool, texts: Sequence[str]
) -> None:
    """Packages of three suites, each release twice as fast as the last; the second perhaps without assertions."""
    expect = f"qps(build='{NEW}') > 1.5 * qps(build='{OLD}')"
    claim = {"claim": "twice as fast", "expect": expect, "where": {"step": "readww"}}
    grid: dict[str, Any] = {"builds": RELEASES, "caches": ("lru",), "threads": ("1",), "base": {"build": OLD}}
    experiment = Experiment(tmp_path, **grid, seconds=1, claims=[claim], **spec)
    for number, (build, suite) in enumerate(zip(RELEASES, ("bullseye", "bookworm", "trixie"), strict=True)):
        quality = {"route": "debian", "suite": suite, "assertions": has_assertions or build != NEW}
        experiment.add_build(build, quality)
        for load in range(3):
            rate = 1000.0 * 2**number * (1 + load / 1000)
            experiment.add_load(build, load)
            experiment.add(build, "lru", "1", load, {"readww": rate, "overwrite": rate})
    scenario.report(experiment)
    words = " ".join(scenario.text(experiment).split())
    assert [text for text in texts if text not in words] == []
