"""Finished builds are all that a run needs: no client, no compiler, no network, no origin."""

import shutil
import sys

import pytest

from tests.build.repository import Repository
from tests.integration.conftest import Lab

MAIN = 'def main():\n    print("speed 41")\n'
COMPILE = f"python3 -m zipapp app -m main:main -p {sys.executable} -o speed"
SPEC = f"""\
title: "an unknown engine"
builds:
  speed:
    engine: program
    source: {{git: "URL", ref: v1.0.0}}
    flags: {{command: "{COMPILE}", programs: speed}}
steps:
  - name: run
    kind: command
    argv: ["{{program:speed}}"]
    metrics: {{speed: {{pattern: 'speed (\\d+)', required: true}}}}
"""
NOWHERE = "http://127.0.0.1:9"
PROXIES = ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy")
TOOLS = ("bash", "sh")  # what Snakemake starts jobs with


@pytest.fixture
def bench(tmp_path):
    lab = Lab(tmp_path / "lab")
    lab.folder.mkdir()
    repository = Repository(tmp_path / "origin")
    repository.commit("v1.0.0", app__main_py=MAIN)
    lab.write(SPEC.replace("URL", repository.url))
    return lab


def offline(folder):
    """The environment of a machine with nothing but a shell."""
    path = folder / "bin"
    path.mkdir()
    for tool in TOOLS:
        (path / tool).symlink_to(str(shutil.which(tool)))
    return {"PATH": str(path), **dict.fromkeys(PROXIES, NOWHERE)}


def built(lab):
    return {str(path): path.stat().st_mtime_ns for path in (lab.folder / "outputs").glob("builds/*/build.json")}


def test_a_run_with_finished_builds_goes_without_anything_else(bench, tmp_path):
    made = bench.execute(bench.argv("builds", "spec.yaml", "--yes"))
    assert made.returncode == 0, made.stderr
    shutil.rmtree(tmp_path / "origin")
    before = built(bench)
    done = bench.run(**offline(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "1 done (measured steps)" in bench.execute(bench.argv("report", "spec.yaml", "--all")).stdout
    assert built(bench) == before


def test_nothing_is_built_twice(bench, tmp_path):
    """By another plan of the spec, and by another spec."""
    assert bench.run().returncode == 0
    before = built(bench)
    shutil.rmtree(tmp_path / "origin")
    text = (bench.folder / "spec.yaml").read_text()
    bench.write(text.replace("name: run\n", "name: again\n"))
    again = bench.run()
    assert again.returncode == 0, again.stderr
    bench.write(text.replace("  speed:\n", "  another:\n"), "other.yaml")
    shared = bench.execute(bench.argv("run", "other.yaml"))
    assert shared.returncode == 0, shared.stderr
    assert built(bench) == before
    assert not list((bench.folder / "outputs").glob("attempts/b-*/*"))
