"""The reasons that `stepgrid plan` gives for what is neither an option, a setting nor a build."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from stepgrid.plan import identity
from stepgrid.plan.plan_file import BUILDS, CELLS, HEADER, STAGES
from stepgrid.store.store import Store
from tests.cli.samples import SPEC
from tests.cli.test_plan import Capture, built, kept, measured, told

pytestmark = pytest.mark.usefixtures("folder")


def test_share_is_a_reason(folder: Path, capsys: Capture) -> None:
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    (folder / "a.yaml").write_text(SPEC + "share: false\n")
    lines = told(capsys).splitlines()
    assert "measure (missing): 8 stages, about 4m00s" in lines
    assert lines[lines.index("measure (missing): 8 stages, about 4m00s") + 1] == "    share: true -> false"
    apart = kept()
    measured(apart, apart.stages)
    (folder / "a.yaml").write_text(SPEC)
    for stage in plan.stages:
        shutil.rmtree(Store().root / "results" / stage.id)
    assert "    share: false -> true" in told(capsys).splitlines()


def test_the_cell_is_a_reason_where_nothing_is_shared(folder: Path, capsys: Capture) -> None:
    (folder / "a.yaml").write_text(SPEC + "share: false\n")
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    (folder / "a.yaml").write_text(SPEC.replace("from: loaded}}", "from: loaded}, x: {a: {}}}") + "share: false\n")
    assert "    axes of the cell (share: false): [build, threads] -> [build, threads, x]" in told(capsys).splitlines()


def test_start_launch_probes_and_collectors_are_reasons(folder: Path, capsys: Capture) -> None:
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    probe = "probes: [{name: files, after: [readww], command: [ls, -R, .]}]\n"
    more = "start: cold\nlaunch: {numa: interleave}\ncollectors: [{collector: pidstat, steps: readww}]\n"
    (folder / "a.yaml").write_text(SPEC + more + probe)
    text = told(capsys)
    for said in (
        "    launch.numa: not set -> interleave",
        "    start: not set -> cold",
        "    collectors.pidstat.collector: not set -> pidstat",
        "    probes.files.command: not set -> [ls, -R, .]",
        "    probes.files.when: not set -> after",
    ):
        assert said in text.splitlines()


def test_another_version_of_this_program_is_a_reason(capsys: Capture) -> None:
    """An id that another version made of the same inputs: nothing that is written down differs."""
    plan = kept()
    built(plan)
    measured(plan, plan.stages)
    old = Store().plan(plan.digest)
    for path in old.iterdir():  # as if all of its stages had had other ids
        path.write_text(path.read_text().replace('"s-', '"s-0'))
    old.rename(old.with_name(_own_name(old)))
    for folder in sorted((Store().root / "results").iterdir()):
        folder.rename(folder.with_name(f"s-0{folder.name[2:]}"))
    assert "no input differs that a plan records: another version of stepgrid planned the earlier result" in told(
        capsys
    )


def _own_name(folder: Path) -> str:
    """A plan is called by the digest of its text, in which it is not named itself; it is written into it here."""
    header = folder / HEADER
    text = header.read_text()
    header.write_text(text.replace(f'"digest":"{folder.name}"', '"digest":""'))
    parts = [(folder / name).read_bytes() for name in (HEADER, CELLS, BUILDS, STAGES)]
    name = hashlib.sha256(b"".join(parts)).hexdigest()[: identity.LENGTH]
    header.write_text(text.replace(f'"digest":"{folder.name}"', f'"digest":"{name}"'))
    return name
