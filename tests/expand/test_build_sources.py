"""A build's source as it is for its version: names, lists of names, values with conditions."""

from collections.abc import Callable
from typing import Any

import pytest

from stepgrid.model.plan import Plan, PlannedBuild

Compile = Callable[..., Plan]
STEPS = "steps: [{name: fillseq, kind: db_bench, benchmarks: [fillseq], keys: 1k}]\n"


def builds(compile_text: Compile, source: str, versions: str = "versions: [7.8.3, 9.10.0]") -> list[PlannedBuild]:
    text = f"title: t\nbuilds: {{rocksdb: {{engine: rocksdb, {versions}, source: {source}}}}}\n"
    return sorted(compile_text(text + STEPS).builds, key=lambda build: build.version)


@pytest.mark.parametrize(
    ("debian", "expected"),
    [
        ("a1", ["a1", "a1"]),
        ("[a1, b1]", [["a1", "b1"], ["a1", "b1"]]),
        ("[a1]", ["a1", "a1"]),
        ("[{when: \"version < '8'\", value: [a1, b1]}, {value: c1}]", [["a1", "b1"], "c1"]),
        ("[{when: \"version < '8'\", value: a1}, {value: [b1, c1]}]", ["a1", ["b1", "c1"]]),
        ('["a{{ version }}", b1]', [["a7.8.3", "b1"], ["a9.10.0", "b1"]]),
    ],
)
def test_packages(compile_text: Compile, debian: str, expected: list[Any]) -> None:
    found = builds(compile_text, f"{{debian: {debian}, suite: trixie}}")
    assert [build.source["debian"] for build in found] == expected


def test_a_list_of_one_is_that_one(compile_text: Compile) -> None:
    one, listed, two = (builds(compile_text, f"{{debian: {d}, suite: sid}}")[0].id for d in ("a1", "[a1]", "[a1, b1]"))
    assert one == listed != two


def test_a_value_that_is_a_number_is_text(compile_text: Compile) -> None:
    assert builds(compile_text, '{debian: a1, suite: "{{ 10 + 2 }}"}')[0].source == {"debian": "a1", "suite": "12"}


@pytest.mark.parametrize(
    "source",
    [
        "{system: db_bench}", "{debian: a1, suite: sid}", "{path: x}", '{maven: "org.rocksdb:rocksdbjni:9.10.0"}',
        "{crate: x, version: 1.0}", '{git: "https://example.org/x.git", ref: main}',
    ],
)  # fmt: skip
def test_a_source_that_says_what_is_built_needs_no_version(compile_text: Compile, source: str) -> None:
    assert [build.version for build in builds(compile_text, source, "options: []")] == [""]


@pytest.mark.parametrize("version", ["version: 9.10.0", "versions: [9.10.0]"])
def test_the_version_of_a_build_is_that_of_its_artifact(compile_text: Compile, version: str) -> None:
    assert builds(compile_text, '{maven: "org.rocksdb:rocksdbjni"}', version)[0].version == "9.10.0"
