"""Builds that are servers which already run: what a spec says of one, and what it cannot ask of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stepgrid.model.plan import Plan
from stepgrid.plan.identity import build_id

Compile = Callable[..., Plan]
Complaints = Callable[..., str]

SPEC = """\
title: t
builds:
  prod: {engine: mysql, version: 8.0.40, source: {server: prod}}
  made: {engine: mysql, version: 8.0.31, source: {system: mysqld}}
steps: [{name: q, kind: sql, sql: ["select 1"]}]
"""


def test_its_identity_is_its_name_and_the_declared_version(compile_text: Compile) -> None:
    (prod,) = [build for build in compile_text(SPEC).builds if build.name == "prod"]
    assert prod.id == build_id("mysql", "8.0.40", {"server": "prod"}, "")


@pytest.mark.parametrize(
    ("line", "where", "asked", "why"),
    [
        ("start: cold", "6:1", "start", "what the page cache holds"),
        ("launch: {numa: interleave, memory: 16GiB}", "6:28", "launch.memory", "what memory it may take"),
        ("sweep: {how: {hot: {start: warm}, as_it_is: {params: {x: 1}}}}", "6:15", "start", "what the page cache"),
        ("sweep: {how: {a: {launch: {memory: 1GiB}}, b: {launch: {cpus: 0}}}}", "6:15", "launch.memory", "what memory"),
    ],
)
def test_what_only_who_starts_it_can_give(complaints: Complaints, line: str, where: str, asked: str, why: str) -> None:
    said = complaints(SPEC + line + "\nallow: {no-repeats: a test}\n")
    message = f"build `prod` is a server that already runs: `{asked}` cannot be had of it"
    assert f"{where}: error[running-server]: {message}" in said
    assert f"= who does not start it cannot say {why}" in said
    assert said.count("running-server") == 1


def test_a_build_that_is_started_may_ask_for_it(compile_text: Compile) -> None:
    plan = compile_text(SPEC + "start: cold\nlaunch: {memory: 16GiB}\nsweep: {build: [made]}\n")
    assert [build.name for build in plan.builds] == ["made"]


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (
            "{engine: rocksdb, version: 9.9.3, source: {server: prod}}",
            "2:56: error[wrong-source]: build `b`: rocksdb is no server that could run already",
        ),
        (
            "{engine: mysql, source: {server: prod}}",
            "2:10: error[missing-key]: build `b` has no version, and its server source names none",
        ),
        (
            "{engine: mysql, version: 8.0.40, source: {server: a/b}}",
            "2:63: error[wrong-source]: `server: a/b` is not a name that a site file could have under `servers`",
        ),
    ],
)
def test_a_source_that_cannot_be(complaints: Complaints, build: str, said: str) -> None:
    spec = f"title: t\nbuilds: {{b: {build}}}\nsteps: [{{name: q, kind: command, argv: [ls]}}]\n"
    assert said in complaints(spec)
