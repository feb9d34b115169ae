"""Folders of published results as data: the steps, summaries and differences that come of each, or its faults.

The cases of a kind stand in folders/KIND.yaml: the files of a folder. Its golden text has what all of them say.
"""

from pathlib import Path

import pytest

from stepgrid_published.importer import FolderError
from stepgrid_published.results import read_folder
from tests.cases import cases, few, figure_lines, write_files

FOLDERS = Path(__file__).with_name("folders")
KINDS = sorted(path.stem for path in FOLDERS.glob("*.yaml"))


def described(kind, folder, case):
    try:
        found = read_folder(kind, folder, skip_unknown=case.get("skip_unknown", False))
    except FolderError as error:
        yield from (f"  fault: {fault}" for fault in error.faults)
        return
    yield from (f"  axis {axis.name}: {', '.join(axis.labels)}" for axis in found.planned.plan.axes)
    for step in (step for stage in found.planned.stages.values() for step in stage):
        labels = {**step.labels, **step.variables}
        yield f"  {step.build} {step.step} {labels or ''} load {step.load} from {step.source}"
        yield f"    of {[path.name for path in step.files]} on {step.host}, {' '.join(step.argv)}"
        yield from [f"    failed: {step.failure}"] if step.failure else []
        yield from (f"  {line}" for line in figure_lines(step.figures))
    for name, text in found.summaries.items():
        yield f"  summary {name}"
        yield from few(f"    |{line}" for line in text.split("\n"))
    yield from (f"  differs: {each.file} {each.row} {each.figure} {each.legacy} / {each.clean}: {each.why}"
                for each in found.differences)  # fmt: skip
    for word in ("refused", "skipped", "unsummarized", "derived", "truncated"):
        yield from (f"  {word}: {each}" for each in getattr(found, word))
    yield from (f"  warning: {text}" for text in found.planned.plan.warnings)


@pytest.mark.parametrize("kind", KINDS)
def test_folders(kind, tmp_path, golden):
    text = ""
    for number, case in enumerate(cases(FOLDERS / f"{kind}.yaml")):
        folder = tmp_path / str(number)
        write_files(folder, case["files"])
        text += "\n".join((case["case"], *described(kind, folder, case))).replace(str(folder), "DIR") + "\n\n"
    golden(text.encode(errors="backslashreplace").decode())
    assert "secret" not in text
