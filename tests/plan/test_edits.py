"""Edits of a spec, or of a file that it names: the stages and builds that they change, and why: tests/plan/edits.

What an edit does not name stays as it is: a result is kept under its id.
"""

from collections import Counter
from pathlib import Path

import pytest

from stepgrid.plan.difference import Link, differences, input_text
from stepgrid.plan.stage_tree import id_faults
from tests.golden import OPTION
from tests.language import catalogue

FOLDER = Path(__file__).with_name("edits")
CATALOGUES = {found.file.stem: found for found in catalogue.catalogues(FOLDER)}
CASES = [(stem, case) for stem, found in CATALOGUES.items() for case in found.cases]


def chain(plan, labels=None):
    """The stages of a cell's first load: of that with these labels, or the first."""
    stages = {stage.id: stage for stage in plan.stages}
    builds = {build.id: build for build in plan.builds}
    cell = next((cell for cell in plan.cells if cell.labels == labels), plan.cells[0])
    return [Link.of(stages[node], builds.__getitem__) for node in cell.repeats[0].stages]


@pytest.mark.parametrize(("stem", "case"), CASES, ids=[f"{stem}: {case.name}" for stem, case in CASES])
def test_what_an_edit_changes(stem, case, compile_text, tmp_path, golden, request):
    after = case.text(CATALOGUES[stem].bases)
    before = after if case.files else CATALOGUES[stem].bases[case.base]
    _write(tmp_path, dict.fromkeys(case.files, "one"))
    old = compile_text(before)
    _write(tmp_path, case.files)
    new = compile_text(after)
    assert [*id_faults(old), *id_faults(new)] == []
    lines = [f"new: {_count(new, old)}; gone: {_count(old, new)}"]
    reasons = differences(chain(old), chain(new, old.cells[0].labels))
    lines += [f"{input_text(found)}  ({found.where})" for found in reasons]
    said = "\n".join(line.rstrip() for line in lines).replace(str(tmp_path), "FOLDER").replace("  ()", "")
    if request.config.getoption(OPTION) and said != case.said.rstrip("\n"):
        CATALOGUES[stem] = CATALOGUES[stem].updated(case.name, said + "\n" if "\n" in said else said)
        CATALOGUES[stem].write()
    else:
        assert said == case.said.rstrip("\n"), "`make golden` writes it anew"


def _write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)


def _count(plan, other):
    nodes = {node.id for node in (*other.stages, *other.builds)}
    kinds = Counter("measured" if stage.parent else "load" for stage in plan.stages if stage.id not in nodes)
    kinds["build"] = sum(build.id not in nodes for build in plan.builds)
    return ", ".join(f"{kinds[kind]} {kind}" for kind in ("build", "load", "measured") if kinds[kind]) or "nothing"
