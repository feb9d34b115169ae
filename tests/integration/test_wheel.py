"""The wheel in an environment with the dependencies that it declares, in an empty folder, without the checkout."""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.needs import needs
from tests.waiting import LONG

pytestmark = pytest.mark.integration
ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
SMALLER = {
    "hardware: here": "hardware: here\ninclude: library/rocksdb.yaml",
    "options:\n": "options:\n  - leveled\n",
    '[8.5.4, 9.9.3]\n    source: {maven: "org.rocksdb:rocksdbjni"}': (
        "[9.10.0]\n    source: {debian: rocksdb-tools, suite: trixie}"
    ),
    "keys: 1M, duration: 5m": "keys: 20k, duration: 1s",
    "repeat: 3": "repeat: 1",
}
LOOP = """
title: "a loop in two lengths"
builds: {shell: {engine: program, source: {system: sh}}}
steps: [{name: loop, kind: command, argv: ["{program:sh}", -c, "sleep {{ params.pause }}"]}]
sweep: {pause: [0.06, 0.07]}
"""
WORKFLOW = """
configfile: "config.yaml"


rule all:
    input:
        "answer.txt",


module stepgrid:
    snakefile: "MODULE"
    config: config


use rule * from stepgrid as bench_*


rule answer:
    input:
        rules.bench_stepgrid.output.figures,
    output:
        "answer.txt",
    shell:
        "python -c 'import json; print(json.load(open(\\"{input}\\"))[\\"title\\"])' > {output}"
"""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A folder of another user's, where there is one, with an environment beside it."""

    folder: Path

    @property
    def bin(self):
        return self.folder / "environment" / "bin"

    def shell(self, command):
        path = f"{self.bin}:{os.defpath}"
        env = {"PATH": path, "HOME": str(self.folder / "work"), "LANG": "C.UTF-8", "COLUMNS": "200"} | _of_this_host(
            self.folder
        )
        return subprocess.run(
            ["bash", "-c", command], cwd=self.folder / "work", env=env, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=LONG, **_as_nobody(),
        )  # fmt: skip


def _of_this_host(folder):
    """How it reaches registries, and a host lock that no other test waits for."""
    reach = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy") or "APT" in name}
    return reach | {"STEPGRID_HOST_LOCK": str(folder / "work" / "host.lock"), "STEPGRID_LOOK": "0"}


def _as_nobody():
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


@pytest.fixture(scope="module")
def elsewhere():
    made = Elsewhere(Path(tempfile.mkdtemp(prefix="stepgrid-wheel-")))
    try:
        made.folder.chmod(0o755)
        (made.folder / "work").mkdir()
        _install(made)
        if os.geteuid() == 0:
            os.chown(made.folder / "work", NOBODY, NOBODY)
        if made.shell(f"{made.bin}/python -c 'import snakemake, duckdb'").returncode:
            pytest.skip("another user may not read this checkout's environment")
        yield made
    finally:
        shutil.rmtree(made.folder)


def _install(made):
    wheel = _wheel(made.folder / "dist")
    _call("venv", "--without-pip", str(made.bin.parent))
    _call("pip", "--python", str(made.bin / "python"), "install", "--quiet", "--no-index", "--no-deps", str(wheel))
    (packages,) = made.bin.parent.glob("lib/python*/site-packages")
    (metadata,) = packages.glob("stepgrid-*.dist-info")
    for each in _needed(Distribution.at(metadata), set(), {}).values():
        _link(each, packages, made.bin)


def _wheel(folder):
    _call("hatchling", "build", "--target", "wheel", "--directory", str(folder))
    (wheel,) = folder.glob("stepgrid-*.whl")
    return wheel


def _call(*argv):
    subprocess.run([sys.executable, "-m", *argv], cwd=ROOT, check=True, capture_output=True, timeout=LONG)


def _needed(of, extras, known):
    """What pip would bring, as it is here."""
    for line in of.requires or ():
        wanted = Requirement(line)
        holds = wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in extras | {""})
        if holds and f"{wanted.name}{wanted.extras}" not in known:
            found = known[f"{wanted.name}{wanted.extras}"] = distribution(wanted.name)
            _needed(found, wanted.extras, known)
    return known


def _link(each, packages, programs):
    for top in {file.parts[0] for file in each.files or () if file.parts[0] not in ("..", "__pycache__")}:
        if not (packages / top).exists():
            (packages / top).symlink_to(Path(str(each.locate_file(top))))
    for entry in each.entry_points.select(group="console_scripts"):
        script = programs / entry.name
        start = f"from {entry.module} import {entry.attr} as main\nraise SystemExit(main())\n"
        script.write_text(f"#!{programs}/python\n{start}")
        script.chmod(0o755)


@needs("apt")
def test_the_four_commands_in_an_empty_folder(elsewhere):
    assert elsewhere.shell("stepgrid new rocksdb my.yaml").stdout == "wrote my.yaml; next: stepgrid plan my.yaml\n"
    spec = elsewhere.folder / "work" / "my.yaml"
    text = spec.read_text()
    for old, new in SMALLER.items():
        assert old in text
        text = text.replace(old, new, 1)
    spec.write_text(text)
    ran = elsewhere.shell("stepgrid run my.yaml")
    assert ran.returncode == 0, ran.stderr
    outputs = spec.parent / "outputs"
    (page,) = outputs.glob("summary/*/index.html")
    assert "</html>" in page.read_text()
    results = sorted(outputs.glob("results/*/*"))
    assert len(results) == 3
    if os.geteuid() == 0:
        assert {each.stat().st_uid for each in results} == {NOBODY}
    snakemake = 'snakemake -s "$(stepgrid snakefile)" --config spec=my.yaml'
    again = elsewhere.shell(snakemake)
    assert again.returncode == 0
    assert "nothing to do: 2 cells, 3 stages measured" in again.stderr
    shutil.rmtree(results[0])
    mended = elsewhere.shell(snakemake)
    assert mended.returncode == 0, mended.stderr
    assert len(sorted(outputs.glob("results/*/*"))) == 3


def test_a_module_of_another_workflow_runs_a_spec(elsewhere):
    work = elsewhere.folder / "work" / "module"
    assert elsewhere.shell("mkdir --parents module/outputs").returncode == 0
    (work / "bench.yaml").write_text(LOOP)
    (work / "config.yaml").write_text("samples: a.tsv\nstepgrid: {spec: bench.yaml, set: [repeat=2]}\n")
    module = elsewhere.shell("stepgrid snakefile --module").stdout.strip()
    (work / "Snakefile").write_text(WORKFLOW.replace("MODULE", module))
    snakemake = "cd module && snakemake --cores all --quiet rules"
    first = elsewhere.shell(snakemake)
    assert first.returncode == 0, first.stderr
    assert (work / "answer.txt").read_text() == "a loop in two lengths\n"
    assert "</html>" in (work / "results" / "bench" / "index.html").read_text()
    assert len([*work.glob("outputs/results/*/*")]) == 4
    assert "Nothing to be done" in elsewhere.shell("cd module && snakemake --cores all").stderr
    (work / "config.yaml").write_text("stepgrid: {spec: bench.yaml, set: [repeat=3]}\n")
    assert elsewhere.shell(snakemake).returncode == 0
    assert len([*work.glob("outputs/results/*/*")]) == 6
    (work / "config.yaml").write_text("stepgrid: {spec: bench.yaml, scal: smoke}\n")
    wrong = elsewhere.shell(snakemake)
    assert wrong.returncode == 1
    assert "there is no key `scal`: did you mean `scale`?" in wrong.stderr
    assert "Traceback" not in wrong.stderr
