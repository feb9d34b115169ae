"""stepgrid lock after builds were made and measured, on real git repositories and real builds."""

from pathlib import Path

import pytest

from stepgrid.build.job import make
from stepgrid.cli import main
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from tests.build.repository import Repository
from tests.cli.worlds import kept, measured

SPEC = """\
title: t
builds:
  p: {{engine: program, version: 1.0.2, source: {{git: "{url}", ref: v1.0.2}},
      flags: {{command: chmod +x say.sh, programs: say.sh}}}}
steps: [{{name: say, kind: command, argv: ["{{program:say.sh}}"]}}]
"""
NOTHING = "  to do    nothing\n"


@pytest.fixture
def origin(tmp_path, monkeypatch):
    """Its build was made, and measured."""
    origin = Repository(tmp_path / "origin")
    origin.commit("v1.0.2", say_sh="#!/bin/sh\necho first\n")
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")
    Path("a.yaml").write_text(SPEC.format(url=origin.url))
    plan = kept()
    assert make(Store(), plan.builds[0]) == 0
    measured(plan, plan.stages)
    return origin


def planned(capsys):
    capsys.readouterr()
    assert main(["plan", "a.yaml"]) == 0
    return capsys.readouterr().out


def move(origin):
    commit = origin.commit(say_sh="#!/bin/sh\necho second\n")
    origin.git("tag", "--force", "v1.0.2")
    return commit


def test_what_was_built_is_held_and_nothing_is_new(origin, capsys):
    before = host_plan.compile_for_host("a.yaml", None)
    assert main(["lock", "a.yaml"]) == 0
    now = host_plan.compile_for_host("a.yaml", None)
    assert (now.builds[0].id, now.stages) == (before.builds[0].id, before.stages)
    assert list(now.builds[0].pins.values()) == [origin.git("rev-parse", "v1.0.2^{commit}")]
    assert NOTHING in planned(capsys)


def test_a_ref_that_moved_in_between_is_another_build(origin, capsys):
    new = move(origin)
    assert main(["lock", "a.yaml"]) == 0
    said = planned(capsys)
    assert "  to do    build: 1; measure: 1 stage, about 3" in said  # 30 s, and what this host takes around them
    assert f"    build.pin: not set -> {new} (a.yaml:3:3)\n" in said


def test_a_build_that_is_made_again_is_of_what_is_held(origin):
    main(["lock", "a.yaml"])
    build = host_plan.compile_for_host("a.yaml", None).builds[0]
    move(origin)
    Store().set_aside(build.id, Store().build(build.id))
    assert make(Store(), build) == 0
    assert host_plan.compile_for_host("a.yaml", None).builds[0] == build
