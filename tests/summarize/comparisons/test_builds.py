"""Builds as a report has them: engines and clients, in words, and which get a verdict against each other."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.plan import SAME_QUALITY, Axis
from stepgrid.summarize.comparisons.builds import (
    Build,
    builds,
    difference,
    refusal,
)
from stepgrid.summarize.data.points import Point
from tests.summarize import scenario
from tests.summarize.made import point, run
from tests.summarize.scenario import NEW, OLD
from tests.summarize.synthetic import Experiment

RELEASES = (OLD, NEW, "rocksdb-9.10.0")
SLOW = "assertions yes / no"
DEBIAN, SOURCE = {"route": "debian", "suite": "bookworm"}, {"route": "source", "optimisation": "-O2"}
FACTS = {
    "b-e": {"name": "mariadb", "quality": json.dumps({"route": "maven", "march": "x"})},
    "b-1": {"name": "sysbench", "quality": json.dumps(DEBIAN)},
    "b-2": {"name": "sysbench.source", "quality": json.dumps(SOURCE)},
    "b-3": {"name": "lost"},
}


def _point(client: str | None, build: str = "b-e") -> Point:
    return point(replace(run("a", 0, 1.0), build="mariadb", build_id=build, client_id=client))


def _known() -> dict[str, Build]:
    runs = [each for client in ("b-1", "b-2", "b-3", None) for each in _point(client).runs]
    return builds(FACTS, runs, [Axis("build", ("mariadb",))])


@pytest.mark.parametrize(
    ("base", "arm", "reason"),
    [
        ({"suite": "bullseye"}, {"suite": "bookworm"}, None),
        ({"assertions": True}, {"assertions": True, "suite": "bookworm"}, None),
        ({"assertions": True}, {"assertions": False, "suite": "bookworm"}, SLOW),
        ({"assertions": True}, {"assertions": None}, "assertions yes / unknown"),
        ({}, {"route": "maven", "optimisation": "as published"}, None),
        ({}, {"route": "source", "optimisation": "-O2 + -O3"}, None),
        ({}, {"route": "source", "optimisation": "-O0"}, "optimization yes / no"),
        ({}, {"route": "source", "optimisation": "unknown"}, "optimization yes / unknown"),
        ({}, {"route": "system"}, "optimization yes / unknown"),
        ({"route": "system", "sha256": {"a": "1"}}, {"route": "system", "sha256": {"a": "2"}}, None),
        ({"route": "source", "command": "make"}, {"route": "source", "command": "cc x.c"}, None),
        (
            {"route": "source", "command": "make CFLAGS='-O2 -g'"},
            {"route": "source", "command": "make", "environment": {"CFLAGS": "-O2 -O0"}},
            "optimization yes / no",
        ),
        ({"route": "server", "server": "prod"}, {"route": "server", "server": "test"}, "server prod / test"),
    ],
)
def test_a_verdict_needs_equal_checks_and_optimization(
    base: Mapping[str, Any], arm: Mapping[str, Any], reason: str | None
) -> None:
    """Whatever else differs is told beside the verdict: as shipped."""
    known = {
        name: Build(name, name, quality={"route": "debian", **quality}) for name, quality in (("a", base), ("b", arm))
    }
    sides = _point(None, "b"), _point(None, "a")
    words = "mariadb and mariadb were built differently: "
    assert refusal(known, *sides) == (None if reason is None else words + reason)
    shipped = difference(known, *sides)
    assert shipped is not None
    assert shipped.startswith(words)
    assert refusal(known, *sides, is_strict=True) is not None
    assert refusal(known, sides[0], sides[0], is_strict=True) is None


@pytest.mark.parametrize(
    ("record", "name"),
    [
        ({"warnings": '["this build checks every access to memory (asan), which makes it slow"]'}, "asan"),
        ({"declared": '{"recipe": {"flags": {"cflags": "-O2 -fsanitize=address,undefined"}}}'}, "address,undefined"),
        ({"declared": '{"recipe": {"flags": {"WITH_TSAN": "ON"}}}'}, "tsan"),
        ({"declared": '{"recipe": {"flags": {"WITH_TSAN": "OFF"}}}'}, "none"),
    ],
)
def test_sanitizers_are_found_in_warnings_and_flags(record: Mapping[str, str], name: str) -> None:
    quality = json.dumps(SOURCE)
    known = builds({"a": {"quality": quality}, "b": {"quality": quality, **record}}, [], ())
    assert known["b"].sanitizers == name
    reason = refusal(known, _point(None, "b"), _point(None, "a")) or "sanitizers none / none"
    assert reason.endswith(f"sanitizers none / {name}")


def test_clients_are_compared_like_engines() -> None:
    known = _known()
    assert difference(known, _point("b-1"), _point("b-1")) is None
    assert difference(known, _point(None), _point("b-1")) is None
    ways = "made as Debian packages / compiled from source"
    words = f"the clients sysbench and sysbench.source were built differently: {ways}"
    assert refusal(known, _point("b-2"), _point("b-1")) is None
    assert difference(known, _point("b-2"), _point("b-1")) == words
    lost = "the clients sysbench and lost: what one of them was built with is not recorded"
    assert refusal(known, _point("b-3"), _point("b-1")) == difference(known, _point("b-3"), _point("b-1")) == lost


SHIPPED = f"‡ as shipped: {OLD} and {NEW} were built differently: "
REFUSED = f"* no verdict: {OLD} and {NEW} were built differently: "
REPORTS: dict[str, tuple[dict[str, Any], bool, tuple[str, ...]]] = {
    "packages of three suites get verdicts that are marked": (
        {}, True,
        ("2.00 [1.99, 2.01] faster ‡ 4.00 [3.99, 4.02] faster ‡", f"{SHIPPED}suite bullseye / bookworm",
         f"{NEW}: 2.00× the QPS of {OLD}, in 2 of 3 steps faster, certain", "holds: twice as fast",
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
