"""A client is in a plan by the id of its build, and a setup is one object for all steps that share it."""

from __future__ import annotations

from stepgrid.expand.setup import Setup
from tests.conftest import Compile

SPEC = """\
title: t
builds: {mariadb: {engine: mariadb, version: 11.8.1, source: {system: mariadbd}}}
define: {builds: {one: {engine: sysbench, version: 1.0.20, source: {debian: sysbench, suite: bookworm}}}}
steps:
  - {name: point, kind: sysbench, lua: point_query, duration: 1s, rows: 10, client: one}
sweep: {size: {option: max_connections, values: [1, 2]}}
"""


def test_a_client_is_the_id_of_its_build_in_one_object_for_all_stages(compile_text: Compile) -> None:
    plan = compile_text(SPEC)
    (client,) = [build.id for build in plan.builds if build.engine == "sysbench"]
    points = [stage.steps[0] for stage in plan.stages]
    assert [step.client for step in points] == [client] * 2
    assert points[0].setup is points[1].setup


def test_files_are_checksums_in_it() -> None:
    brought = Setup({}, "").attaching(None, {"a.lua": "text"})
    checksum = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
    assert brought.values == {"files": {"a.lua": checksum}}
    assert brought.text == f'{{"files":{{"a.lua":"{checksum}"}}}}'
