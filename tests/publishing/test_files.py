"""What a repository and its packages bring beside the code."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts.third_party_page import page
from stepgrid import __version__

ROOT = Path(__file__).resolve().parents[2]


def test_the_version_is_semantic() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?", __version__)
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="what is needed differs between releases of Python")
def test_third_party_notices_are_those_of_what_is_needed() -> None:
    said = "run: python -m scripts.third_party_page > THIRD_PARTY.md"
    assert (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8") == f"{page()}\n", said


def test_the_entry_of_the_schema_catalogue() -> None:
    entry = json.loads((ROOT / "specs" / "catalog.json").read_text(encoding="utf-8"))
    assert "*.stepgrid.yaml" in entry["fileMatch"]
    schema = json.loads((ROOT / "specs" / entry["url"]).read_text(encoding="utf-8"))
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize("name", ["bug", "idea"])
def test_issue_templates_are_forms(name: str) -> None:
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml").read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= form.keys()
    assert all(part["type"] == "textarea" and part["attributes"]["label"] for part in form["body"])


@pytest.mark.parametrize(
    "path", [*sorted((ROOT / ".github/workflows").glob("*.yml")), ROOT / "action.yml"], ids=lambda p: p.stem
)
def test_actions_are_pinned_and_permissions_are_those_of_each_job(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"uses: (?!\S+@[0-9a-f]{40}  # v[\d.]+$).*", text, re.MULTILINE) == []
    if path.name != "action.yml":
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] == {}
        assert all(job["permissions"] and job["timeout-minutes"] for job in workflow["jobs"].values())
        assert text.count("actions/checkout@") == text.count("persist-credentials: false")


def test_the_citation_is_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors", "license", "abstract"} <= citation.keys()
    assert citation["version"] == __version__


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 110


def test_the_rules_of_the_snakemake_workflow_catalogue() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8").lower()
    assert "snakemake" in readme
    assert "workflow" in readme
    assert (ROOT / "workflow" / "Snakefile").is_file()
    assert [*(ROOT / "rules").glob("*.smk")]
    assert (ROOT / "config" / "README.md").is_file()
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text(encoding="utf-8"))["usage"]
    assert usage.keys() == {"mandatory-flags", "software-stack-deployment"}
    assert usage["mandatory-flags"].keys() == {"desc", "flags"}
    assert usage["software-stack-deployment"]["report"] is True


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
