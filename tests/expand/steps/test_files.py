"""Files that a step needs: read while the spec is planned, part of what a stage is, written once into the plan."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from stepgrid.expand.setup import LARGEST
from stepgrid.language.files import record_inputs
from stepgrid.model.plan import Plan, PlannedStep
from stepgrid.plan import plan_file
from stepgrid.store import plans

Compile = Callable[..., Plan]
Complaints = Callable[..., str]

SPEC = """\
title: t
builds: {mariadb: {engine: mariadb, version: 11.8.1, source: {system: mariadbd}}}
define: {builds: {sysbench: {engine: sysbench, version: 1.0.20, source: {system: sysbench}}}}
params: {rows: 10, duration: 1s, lua: mine.lua}
steps: [{name: point, kind: sysbench}]
"""
OWN = "function event() end -- ä\n"


def _step(plan: Plan) -> PlannedStep:
    return plan.stages[0].steps[0]


def test_a_file_of_the_specs_own(compile_text: Compile, tmp_path: Path) -> None:
    (tmp_path / "mine.lua").write_text(OWN, encoding="utf-8")
    with record_inputs() as seen:
        step = _step(compile_text(SPEC))
    assert step.files["mine.lua"] == OWN
    assert step.setup["files"] == {name: sha256(text.encode()).hexdigest() for name, text in step.files.items()}
    assert "mine.lua" in seen.files


def test_its_content_is_identity(compile_text: Compile, tmp_path: Path) -> None:
    found = []
    for text in (OWN, OWN, OWN + " "):
        (tmp_path / "mine.lua").write_text(text, encoding="utf-8")
        found.append(compile_text(SPEC).stages[0].id)
    assert found[0] == found[1] != found[2]


def test_it_is_meant_from_the_file_that_names_it(compile_text: Compile, tmp_path: Path) -> None:
    folder = tmp_path / "below"
    folder.mkdir()
    (folder / "mine.lua").write_text(OWN, encoding="utf-8")
    library = "define: {workloads: {w: [{name: point, kind: sysbench, lua: mine.lua, rows: 10, duration: 1s}]}}\n"
    (folder / "w.yaml").write_text(library, encoding="utf-8")
    spec = "".join(SPEC.splitlines(keepends=True)[:3]) + "include: below/w.yaml\nworkload: w\n"
    assert _step(compile_text(spec)).files["mine.lua"] == OWN


def test_a_plan_has_each_text_once(compile_text: Compile, tmp_path: Path) -> None:
    (tmp_path / "mine.lua").write_text(OWN, encoding="utf-8")
    plan = compile_text(SPEC + "sweep: {threads: [1, 2, 4, 8]}\n")
    plans.write(plan, tmp_path / "plan")
    assert (tmp_path / "plan" / "stages.jsonl").read_text(encoding="utf-8").count("function event() end") == 1
    kept = [plan_file.stage(tmp_path / "plan", stage.id).steps[0].files["mine.lua"] for stage in plan.stages]
    assert kept == [OWN] * 4


@pytest.mark.parametrize(
    ("content", "code", "message", "hint"),
    [
        (None, "file-not-found", "there is no file `mine.lua`", ""),
        (b"a\xff", "not-utf8", "`mine.lua` is not UTF-8 text: byte 0xff", "\n   = save the file as UTF-8"),
        (
            b"-" * (LARGEST + 1), "too-large", "the file `mine.lua` is larger than 1 MiB",
            "\n   = its text is part of every plan",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong(
    complaints: Complaints, tmp_path: Path, content: bytes | None, code: str, message: str, hint: str
) -> None:
    if content is not None:
        (tmp_path / "mine.lua").write_bytes(content)
    place = (
        "   4 | params: {rows: 10, duration: 1s, lua: mine.lua}\n     |                                       ^^^^^^^^"
    )
    assert complaints(SPEC) == f"a.yaml:4:39: error[{code}]: {message}\n{place}{hint}"


def test_a_folder_is_no_file(complaints: Complaints, tmp_path: Path) -> None:
    (tmp_path / "mine.lua").mkdir()
    assert "error[file-not-found]: there is no file `mine.lua`" in complaints(SPEC)
