"""Builds as a report has them: engines and clients, in words, and which get a verdict against each other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stepgrid.model.plan import SAME_QUALITY, Axis
from stepgrid.summarize.comparisons.builds import (
    Build,
    builds,
    difference,
    quality_differences,
    quality_rows,
    refusal,
    value_text,
)
from stepgrid.summarize.data.points import Point
from tests.summarize import scenario
from tests.summarize.made import point, run
from tests.summarize.scenario import NEW, OLD
from tests.summarize.synthetic import Experiment

RELEASES = (OLD, NEW, "rocksdb-9.10.0")
DIFFERENCE = f"{OLD} and {NEW} were built differently: suite bullseye / bookworm"
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


def test_titles_and_origins() -> None:
    titles = ["mariadb", "sysbench (client)", "sysbench.source (client)", "lost (client)"]
    assert [build.title for build in _known().values()] == titles
    declared = {"recipe": {"patches": [{"path": "specs/builds/patches/hack.patch", "sha256": "1"}]}}
    facts = {"b-e": {"route": "git", "declared": json.dumps(declared)}, "b-1": {"route": "git", "declared": "{}"}}
    patched = builds(facts, _point(None).runs, [Axis("build", ("mariadb",))])
    assert [build.origin for build in patched.values()] == ["git, patched: hack.patch", "git"]
    names = ("mariadb-client", "mariadb-plugin-rocksdb", "libnuma1", "mariadb-server-core")
    artifacts = [{"name": name, "version": f"1:11.8.{number}"} for number, name in enumerate(names)]
    assert Build("b", "mariadb", "11.8.6", "debian", artifacts).origin == "debian, mariadb-server-core 1:11.8.3"
    assert Build("b", "sysbench", "1.0.20", "debian", artifacts[2:3]).origin == "debian, libnuma1 1:11.8.2"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "unknown"), (True, "yes"), (False, "no"), ({}, "none"), ([], "none"), (["a", 1], "a, 1"), (0, "0"),
        ({"lto": True, "march": None}, "lto yes, march unknown"),
    ],
)  # fmt: skip
def test_values(value: object, text: str) -> None:
    assert value_text(value) == text


def test_qualities_in_words() -> None:
    one = {"route": "system", "sha256": {"db_bench": "ab" * 32}, "assertions": None, "compressions": []}
    other = {"route": "system", "sha256": {"db_bench": "cd" * 32}, "assertions": True, "compressions": ["lz4"]}
    assert quality_rows(other)[:2] == [("made as", "a program of this machine"), ("assertions", "yes")]
    assert quality_differences([one, other]) == [
        "assertions unknown / yes",
        "compressions none / lz4",
        "checksum db_bench abababababab… / db_bench cdcdcdcdcdcd…",
    ]


def test_what_only_one_way_records_is_no_difference() -> None:
    one = {"route": "library", "compiler": "GCC 7.3.1", "compressions": ["lz4"], "assertions": False}
    other = {"route": "debian", "suite": "bookworm", "assertions": True}
    assert quality_differences([one, other]) == [
        "made as an official library, with only the client compiled / Debian packages",
        "assertions no / yes",
    ]
    assert quality_differences([SOURCE, {**SOURCE, "march": "native"}]) == ["-march unknown / native"]


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
    reason = refusal(known, _point(None, "b"), _point(None, "a"))
    assert reason == (
        None if name == "none" else f"mariadb and mariadb were built differently: sanitizers none / {name}"
    )


def test_of_a_server_that_already_ran_little_is_known() -> None:
    quality = {"route": "server", "server": "prod", "compiler": "unknown"}
    build = builds({"b": {"route": "server", "quality": json.dumps(quality)}}, [], ())["b"]
    assert build.origin == (
        "server, which already ran: its configuration, compiler, flags, patches and other clients are not known"
    )
    assert build.quality_text == "made as a server that already ran; compiler unknown; server prod"


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


def text(root: Path, assertions: Mapping[str, bool] = {}, **spec: Any) -> str:
    """Measure the quickstart's comparison: packages of three Debian suites, each release twice as fast as the last."""
    experiment = Experiment(
        root,
        builds=RELEASES,
        caches=("lru",),
        threads=("1",),
        base={"build": OLD},
        seconds=1,
        claims=[
            {
                "claim": "twice as fast",
                "expect": f"qps(build='{NEW}') > 1.5 * qps(build='{OLD}')",
                "where": {"step": "readww"},
            }
        ],
        **spec,
    )
    for number, (build, suite) in enumerate(zip(RELEASES, ("bullseye", "bookworm", "trixie"), strict=True)):
        has_assertions = assertions.get(build, True)
        experiment.add_build(build, {"route": "debian", "suite": suite, "assertions": has_assertions})
        for load in range(3):
            rate = 1000.0 * 2**number * (1 + load / 1000)
            experiment.add_load(build, load)
            experiment.add(build, "lru", "1", load, {"readww": rate, "overwrite": rate})
    scenario.report(experiment)
    return " ".join(scenario.text(experiment).split())


def test_packages_of_three_suites_get_verdicts_that_are_marked(tmp_path: Path) -> None:
    words = text(tmp_path)
    assert "readww 1,000 2.00 [1.99, 2.01] faster ‡ 4.00 [3.99, 4.02] faster ‡" in words
    assert f"‡ as shipped: {DIFFERENCE}" in words
    assert f"`{NEW}` is faster than `{OLD}` at 2 of 3 points, 2.00×" in words
    assert "holds: twice as fast" in words
    assert "builds are compared as shipped, though made differently: suite bullseye / bookworm / trixie" in words
    assert "no verdict" not in words


def test_strict_refuses_them(tmp_path: Path) -> None:
    words = text(tmp_path, strict=SAME_QUALITY)
    assert "readww 1,000 2.00 [1.99, 2.01] * 4.00 [3.99, 4.02] *" in words
    assert f"* no verdict: {DIFFERENCE}" in words
    assert "undecided: twice as fast" in words
    assert "builds that were made differently get no verdict against each other: suite bullseye / bookworm" in words


def test_assertions_on_one_side_refuse_that_pair_alone(tmp_path: Path) -> None:
    words = text(tmp_path, {NEW: False})
    assert "readww 1,000 2.00 [1.99, 2.01] * 4.00 [3.99, 4.02] faster ‡" in words
    assert f"* no verdict: {OLD} and {NEW} were built differently: {SLOW}" in words
    assert f"builds that differ in this get no verdict against each other: {SLOW}" in words


def test_allow_compares_whatever_differs_and_gives_the_reason(tmp_path: Path) -> None:
    words = text(tmp_path, {NEW: False}, as_shipped="users install packages", strict=SAME_QUALITY)
    assert "readww 1,000 2.00 [1.99, 2.01] faster ‡ 4.00 [3.99, 4.02] faster ‡" in words
    assert "holds: twice as fast" in words
    assert (
        "builds are compared as shipped (users install packages), though made differently: assertions yes / no;"
        in words
    )
    assert "no verdict" not in words
