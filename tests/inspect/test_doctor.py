"""stepgrid doctor: what it shows, and its exit status."""

import json
import os
import re
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.host import locks, noise, sysfs, tuning
from stepgrid.model.plan import Plan, PlannedBuild, PlannedReport
from stepgrid_inspect import doctor
from tests.build.repository import Repository
from tests.cases import rows
from tests.cli.samples import SPEC
from tests.needs import needs

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEPGRID_LOOK", "0.01")
    monkeypatch.setenv(locks.HOST_LOCK_OVERRIDE, str(tmp_path / "lock"))
    (tmp_path / "a.yaml").write_text(SPEC)
    return tmp_path


def test_a_checklist(folder, capsys):
    assert main(["doctor"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    pattern = r"nothing would stop a run; (\d+) warnings?, \d+ unknown, (\d+) fine \(--all lists them\)"
    counts = re.fullmatch(pattern, first)
    assert counts
    assert int(counts[2]) > 3
    words = [line.split(" ", 1)[0] for line in lines if line.strip() and not line.startswith(" ")]
    assert words.count("warning") == int(counts[1])
    assert words == [*["warning"] * words.count("warning"), *["unknown"] * words.count("unknown")]
    assert main(["doctor", "--all"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"fine outputs {folder}/outputs can be written fine" in text
    assert f"fine host lock {folder}/lock: free" in text
    assert list(folder.iterdir()) == [folder / "a.yaml"], "nothing is left"


def test_the_page_explains_every_finding(folder):
    page = (ROOT / "docs/concepts/noise.md").read_text(encoding="utf-8")
    rows = {name for row in re.findall(r"^\| ([\w ,]+) \|", page, re.MULTILINE) for name in row.split(", ")}
    found = noise.look(folder, None, folder / "lock").findings
    assert {each.name for each in found if not each.name.startswith("device")} <= rows


def test_what_a_spec_needs(folder, capsys, monkeypatch):
    (folder / "a.yaml").write_text(f'{SPEC}launch: {{cpus: "0", malloc: jemalloc}}\n')
    monkeypatch.setattr(sysfs, "ROOT", folder)
    monkeypatch.setenv("PATH", str(folder))
    assert main(["doctor", "a.yaml"]) == 3
    out = capsys.readouterr().out
    assert "stops    jemalloc       `malloc: jemalloc`: there is no libjemalloc.so.2 here; install" in out
    assert "stops    taskset        not installed; needed for `launch: {cpus}`\n" in out
    assert "warning  git            not installed; needed for builds from git\n" in out
    assert " fix: sudo apt install util-linux, or `tools:` of a site file\n" in out


@pytest.mark.parametrize(("engine", "source", "flags", "programs"), rows(__file__, "what_the_recipe_of_a_build_needs"))
def test_what_the_recipe_of_a_build_needs(engine, source, flags, programs):
    build = PlannedBuild("b-0", "mine", engine, "", source, recipe={"flags": flags})
    found = doctor.needed_programs(Plan("p", "t", "a.yaml", None, (), (), (build,), (), {}, PlannedReport()), ())
    assert found == dict.fromkeys(programs.split(), "the build mine")


@needs("git")
def test_a_tag_that_a_repository_lacks(folder, capsys, tmp_path):
    """A build would say it; plain check asks nobody."""
    repository = Repository(tmp_path / "origin")
    repository.commit("REL_19_BETA1", a_txt="1")
    spec = "title: t\nbuilds: {pg: {engine: postgres, version: 19beta1, source: {git: 'URL', ref: REF}}}\n"
    spec += "steps: [{name: one, kind: sql, sql: select 1}]\nallow: {ref-open: a test}\n"
    for ref, url, said in (
        ("REL_19beta1", repository.url, "has no tag, branch or commit REL_19beta1; did you mean REL_19_BETA1?"),
        ("REL_19_BETA1", repository.url, "has 1 ref"),
        ("REL_19_BETA1", f"{repository.url}-gone", "git cannot read"),
    ):
        (folder / "a.yaml").write_text(spec.replace("URL", url).replace("REF", ref))
        main(["doctor", "a.yaml", "--all"])
        assert said in " ".join(capsys.readouterr().out.split())


def test_restore(folder, capsys, monkeypatch):
    monkeypatch.setattr(sysfs, "ROOT", folder)
    assert main(["doctor", "--restore"]) == 0
    assert capsys.readouterr().out == "nothing to restore\n"
    turbo = folder / "sys/devices/system/cpu/intel_pstate/no_turbo"
    turbo.parent.mkdir(parents=True)
    turbo.write_text("1")
    before = {"boot": None, "before": {str(turbo.relative_to(folder)): "0"}}
    tuning.record_path(folder / "lock").write_text(json.dumps(before))
    with locks.locked(folder / "lock"):
        assert main(["doctor", "--restore"]) == 3
    said = f"a run is measuring (process {os.getpid()}); it restores its settings when it ends\n"
    assert (capsys.readouterr().err, turbo.read_text()) == (said, "1")
    assert main(["doctor", "--restore"]) == 0
    assert capsys.readouterr().out == "restored: 1 file, such as /sys/devices/system/cpu/intel_pstate/no_turbo\n"
    assert turbo.read_text() == "0"
