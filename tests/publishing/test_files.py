"""What a repository and its packages bring beside the code."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from jinja2 import Template
from jsonschema import Draft7Validator
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from scripts.third_party_page import page
from stepgrid import __version__
from tests.needs import needs

ROOT = Path(__file__).resolve().parents[2]
ZIZMOR, UVX = Path(sys.executable).with_name("zizmor"), Path(sys.executable).with_name("uvx")


def test_the_version_is_semantic():
    assert re.fullmatch(r"\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?", __version__)
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="what is needed differs between releases of Python")
def test_third_party_notices_are_those_of_what_is_needed():
    said = "run: python -m scripts.third_party_page > THIRD_PARTY.md"
    assert (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8") == f"{page()}\n", said


LATER = {"$defs", "dependentRequired", "dependentSchemas", "minContains", "prefixItems", "unevaluatedProperties"}


def test_the_entry_of_the_schema_catalogue_is_as_schemastore_takes_it():
    entry = json.loads((ROOT / "specs" / "catalog.json").read_text(encoding="utf-8"))
    assert entry.keys() == {"name", "description", "fileMatch", "url"}
    assert all(re.fullmatch(r"\*\.stepgrid\.ya?ml", pattern) for pattern in entry["fileMatch"]), "no other tool's files"
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]
    assert entry["url"] == f"{urls['Documentation']}spec.schema.json", "scripts/docs_site.py puts it there"
    text = (ROOT / "specs" / "spec.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert [word for word in LATER if f'"{word}"' in text] == []
    Draft7Validator.check_schema(schema)
    spec = yaml.safe_load((ROOT / "specs" / "fio.yaml").read_text(encoding="utf-8"))
    assert [*Draft7Validator(schema).iter_errors(spec)] == []
    assert [*Draft7Validator(schema).iter_errors(spec | {"swep": {}})] != []


CONDA_NAMES = {"duckdb": "python-duckdb", "snakemake": "snakemake-minimal"}  # where conda calls a package otherwise


def test_the_recipe_of_conda_is_of_this_package():
    text = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    recipe = yaml.safe_load(Template(text).render(PYTHON="python", pin_subpackage=lambda name, max_pin: name))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [Requirement(line) for line in project["project"]["dependencies"]]
    expected = {CONDA_NAMES.get(each.name, each.name.lower()): each.specifier for each in needed}
    expected["python"] = SpecifierSet(project["project"]["requires-python"])
    lines = [line.partition(" ") for line in recipe["requirements"]["run"]]
    assert {name: SpecifierSet(versions) for name, _, versions in lines} == expected
    assert {line.replace(" ", "") for line in recipe["requirements"]["host"]} >= {*project["build-system"]["requires"]}
    assert recipe["package"] == {"name": "stepgrid", "version": __version__}
    script = project["project"]["scripts"]["stepgrid"]
    assert recipe["build"]["entry_points"] == [f"stepgrid = {script}"]
    assert [name for name in recipe["about"]["license_file"] if not (ROOT / name).is_file()] == []


@pytest.mark.parametrize("name", ["bug", "idea"])
def test_issue_templates_are_forms(name):
    form = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml").read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= form.keys()
    assert all(part["type"] == "textarea" and part["attributes"]["label"] for part in form["body"])


@pytest.mark.parametrize(
    "path",
    [*sorted((ROOT / ".github/workflows").glob("*.yml")), ROOT / "action.yml", ROOT / "comment/action.yml"],
    ids=lambda p: p.stem,
)
def test_actions_are_pinned_and_permissions_are_those_of_each_job(path):
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"uses: (?!\S+@[0-9a-f]{40}  # v[\d.]+$).*", text, re.MULTILINE) == []
    if path.name != "action.yml":
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] == {}
        assert all(job["permissions"] and job["timeout-minutes"] for job in workflow["jobs"].values())
        assert text.count("actions/checkout@") == text.count("persist-credentials: false")


CHECKED = (".github", "action.yml", "comment/action.yml")


@pytest.mark.skipif(not ZIZMOR.exists(), reason="`make publishing` installs zizmor")
def test_zizmor_finds_no_fault_of_security_in_workflows():
    done = subprocess.run([ZIZMOR, "--offline", *CHECKED], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(not ZIZMOR.exists(), reason="`make publishing` installs zizmor")
def test_zizmor_finds_no_fault_in_the_workflows_of_the_how_to(tmp_path):
    """Actions are pinned here, as the page says that they should be."""
    page = (ROOT / "docs/guides/ci-gate.md").read_text(encoding="utf-8")
    blocks = [text for text in re.findall(r"^```yaml.*?\n(.*?)^```", page, re.MULTILINE | re.DOTALL) if "\non:" in text]
    assert len(blocks) == 2
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    for number, text in enumerate(blocks):
        pinned = re.sub(r"(uses: \S+)@v[\d.]+", rf"\1@{'0' * 40}", text)
        (folder / f"{number}.yml").write_text(pinned)
        assert all("permissions" in job and "timeout-minutes" in job for job in yaml.safe_load(text)["jobs"].values())
    done = subprocess.run([ZIZMOR, "--offline", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.nightly  # fetched when it first runs
@needs("pip")
@pytest.mark.skipif(not UVX.exists(), reason="`make publishing` installs uv")
def test_the_workflow_is_formatted_as_the_catalogue_checks_it():
    done = subprocess.run(
        [UVX, "--quiet", "snakefmt@2.1.0", "--check", "workflow/Snakefile"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.nightly  # compiled when it first runs
@needs("go-modules")
def test_actionlint_finds_no_mistake_in_workflows():
    argv = ["go", "run", "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12", "-shellcheck=", "-pyflakes="]
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    done = subprocess.run([*argv, *workflows], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors", "license", "abstract"} <= citation.keys()
    assert citation["version"] == __version__


def test_the_folder_of_results_has_a_readme_and_git_ignores_all_else():
    assert (ROOT / "outputs" / "README.md").is_file()
    paths = ["outputs/README.md", "outputs/plans", "outputs/results/x/result.json"]
    ignored = subprocess.run(["git", "check-ignore", *paths], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ignored.stdout.splitlines() == paths[1:]


def test_the_readme_is_short_and_its_code_fits_the_width_of_a_page():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 140
    assert [line for part in text.split("```")[1::2] for line in part.splitlines() if len(line) > 100] == []


def test_the_rules_of_the_snakemake_workflow_catalogue():
    readme = (ROOT / "README.md").read_text(encoding="utf-8").lower()
    assert "snakemake" in readme
    assert "workflow" in readme
    assert (ROOT / "workflow" / "Snakefile").is_file()
    assert (ROOT / "config" / "README.md").is_file()
    usage = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text(encoding="utf-8"))["usage"]
    assert usage.keys() == {"mandatory-flags", "software-stack-deployment"}
    assert usage["mandatory-flags"].keys() == {"desc", "flags"}
    assert usage["software-stack-deployment"]["report"] is True  # tests/rules/test_command.py makes one
    assert (ROOT / "LICENSE").is_file()


@pytest.mark.integration
def test_the_workflow_runs_in_its_test_folder(tmp_path):
    shutil.copytree(ROOT / ".test", tmp_path / "test")
    argv = [sys.executable, "-m", "snakemake", "--snakefile", "workflow/Snakefile", "--directory", tmp_path / "test"]
    assert subprocess.run([*argv, "--lint"], cwd=ROOT, capture_output=True, text=True).returncode == 0
    ran = subprocess.run([*argv, "--cores", "all"], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert len([*tmp_path.glob("test/outputs/results/*/*")]) == 2


TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")
INSTRUCTIONS = re.findall(r"^([A-Z]+) ((?:.*\\\n)*.*)$", TEXT, re.MULTILINE)


def builder():
    found = (name for name in ("podman", "buildah", "docker") if shutil.which(name))
    return next((name for name in found if subprocess.run([name, "info"], capture_output=True).returncode == 0), None)


def test_what_it_copies_is_there():
    own = [said for kind, said in INSTRUCTIONS if kind == "COPY" and not said.startswith("--from")]
    sources = [source for said in own for source in said.split()[:-1]]
    assert len(sources) > 5
    assert [source for source in sources if not (ROOT / source).exists()] == []


def test_it_copies_all_that_the_wheel_holds():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = project.partition("[tool.hatch.build.targets.wheel.force-include]")[2].partition("\n[")[0]
    included = re.findall(r'^"?([\w/.]+)"? = ', section, re.MULTILINE)
    copied = " ".join(said for kind, said in INSTRUCTIONS if kind == "COPY").split()
    assert included
    assert set(included) <= set(copied)


def test_its_instructions_are_known_and_its_base_has_a_tag():
    assert {kind for kind, _ in INSTRUCTIONS} <= {"FROM", "RUN", "COPY", "WORKDIR", "ENV", "ENTRYPOINT", "CMD"}
    assert all(re.match(r"[\w.-]+:[\w.-]+( AS \w+)?$", said) for kind, said in INSTRUCTIONS if kind == "FROM")


def test_packages_are_installed_without_what_they_recommend():
    installs = [said for kind, said in INSTRUCTIONS if kind == "RUN" and "apt-get install" in said]
    assert installs
    assert all("--no-install-recommends" in said and "rm -rf /var/lib/apt/lists" in said for said in installs)


@pytest.mark.integration
@pytest.mark.skipif(builder() is None, reason="this machine runs no builder of containers")
def test_it_is_built_and_runs():
    name = builder() or ""
    build = [name, "bud" if name == "buildah" else "build", "-f", "Containerfile", "-t", "stepgrid-test", "."]
    assert subprocess.run(build, cwd=ROOT, capture_output=True).returncode == 0
    if name != "buildah":
        ran = subprocess.run([name, "run", "--rm", "stepgrid-test", "--version"], capture_output=True, text=True)
        assert ran.stdout.startswith("stepgrid ")
