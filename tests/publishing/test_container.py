"""The container file: built where a builder runs, else its instructions are looked at."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")
INSTRUCTIONS = re.findall(r"^([A-Z]+) ((?:.*\\\n)*.*)$", TEXT, re.MULTILINE)


def builder() -> str | None:
    found = (name for name in ("podman", "buildah", "docker") if shutil.which(name))
    return next((name for name in found if subprocess.run([name, "info"], capture_output=True).returncode == 0), None)


def test_what_it_copies_is_there() -> None:
    own = [said for kind, said in INSTRUCTIONS if kind == "COPY" and not said.startswith("--from")]
    sources = [source for said in own for source in said.split()[:-1]]
    assert len(sources) > 5
    assert [source for source in sources if not (ROOT / source).exists()] == []


def test_it_copies_all_that_the_wheel_holds() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = project.partition("[tool.hatch.build.targets.wheel.force-include]")[2].partition("\n[")[0]
    included = re.findall(r'^"?([\w/.]+)"? = ', section, re.MULTILINE)
    copied = " ".join(said for kind, said in INSTRUCTIONS if kind == "COPY").split()
    assert included
    assert set(included) <= set(copied)


def test_its_instructions_are_known_and_its_base_has_a_tag() -> None:
    assert {kind for kind, _ in INSTRUCTIONS} <= {"FROM", "RUN", "COPY", "WORKDIR", "ENV", "ENTRYPOINT", "CMD"}
    assert all(re.match(r"[\w.-]+:[\w.-]+( AS \w+)?$", said) for kind, said in INSTRUCTIONS if kind == "FROM")


def test_packages_are_installed_without_what_they_recommend() -> None:
    installs = [said for kind, said in INSTRUCTIONS if kind == "RUN" and "apt-get install" in said]
    assert installs
    assert all("--no-install-recommends" in said and "rm -rf /var/lib/apt/lists" in said for said in installs)


@pytest.mark.integration
@pytest.mark.skipif(builder() is None, reason="this machine runs no builder of containers")
def test_it_is_built_and_runs() -> None:
    name = builder() or ""
    build = [name, "bud" if name == "buildah" else "build", "-f", "Containerfile", "-t", "stepgrid-test", "."]
    assert subprocess.run(build, cwd=ROOT, capture_output=True).returncode == 0
    if name != "buildah":
        ran = subprocess.run([name, "run", "--rm", "stepgrid-test", "--version"], capture_output=True, text=True)
        assert ran.stdout.startswith("stepgrid ")
