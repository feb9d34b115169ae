"""Tools read settings of the folder that they run in and of all above it: none of a checkout or a temporary folder."""

import shlex
from contextlib import suppress
from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.job import make
from stepgrid.build.pins import chosen_files, list_releases, resolve
from stepgrid.build.recipe import source_of
from stepgrid.cli import main
from stepgrid.model.plan import PlannedBuild
from stepgrid.model.site import Site
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from tests.build.ordering import order
from tests.build.repository import Repository
from tests.cases import rows
from tests.needs import needs

CLIENTS = ("cargo", "go", "mvn", "node", "npm", "python", "rustc", "uv")
SOURCES = {
    "crate": {"crate": "thing", "version": "1.0"},
    "cargo": {"cargo": "thing", "version": "1.0"},
    "go": {"go": "host.example/thing", "version": "v1.0.0"},
    "npm": {"npm": "thing", "version": "1.0"},
    "maven": {"maven": "group:thing:1.0"},
    "pypi": {"pypi": "thing", "version": "1.0"},
    "sdist": {"pypi": "thing", "version": "1.0", "kind": "sdist"},
    "requirements": {"requirements": ["thing==1.0"]},
}
SPEC = """\
title: t
builds:
  b: {{engine: program, version: 1.0.0, {build}}}
steps: [{{name: say, kind: command, argv: [say.sh]}}]
"""


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """The current folder; the temporary folder is one that others can write to as well."""
    for name in ("checkout/outputs", "tmp"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(tmp_path / "checkout")
    return tmp_path / "checkout"


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("command", ["lock", "outdated", "build"])
def test_no_client_runs_where_others_may_leave_settings(command, source, checkout):
    recorder = checkout.parent / "recorder"
    recorder.write_text(f'#!/bin/sh\necho "$PWD" >>{recorder}.log\nexit 1\n')
    recorder.chmod(0o755)
    site = Site(tools=dict.fromkeys(CLIENTS, str(recorder)))
    build = PlannedBuild("b-0", "b", "program", "", source)
    with suppress(BuildError, AssertionError):  # some registries have no lists
        if command == "lock":
            resolve(source, build, site)
        elif command == "outdated":
            list_releases({**source, "version": "{{ version }}"}, site)
        else:
            attempt = checkout / "outputs/attempts/b-0/1"
            source_of(source).fetch(source, attempt, order(attempt, source, engine="program", site=site))
    log = recorder.with_suffix(".log")
    if command != "outdated" or log.exists():
        assert {*log.read_text().splitlines()} == {"/"}


def plant(folder):
    """Settings of cargo, rustup and mvn that start a program or stop the client; the file that the program writes."""
    canary, wrapper = folder / "canary", folder / "wrapper"
    wrapper.write_text(f'#!/bin/sh\necho "$@" >>{canary}\nexec "$@"\n')
    wrapper.chmod(0o755)
    for name, text in {
        ".cargo/config.toml": f'[build]\nrustc-wrapper = "{wrapper}"\n',
        "rust-toolchain.toml": f'[toolchain]\npath = "{folder}/none"\n',
        ".mvn/maven.config": "--no-such-option\n",
        ".mvn/jvm.config": f"-XX:OnError=touch\\ {canary} -XX:+NoSuchFlag\n",
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return canary


@pytest.mark.parametrize("place", ["tmp", "checkout"])
@pytest.mark.parametrize(
    "source",
    [
        pytest.param("{crate: cfg-if, version: 1.0.0}", id="cargo", marks=needs("cargo")),
        pytest.param("{maven: 'org.slf4j:slf4j-api:1.7.36'}", id="maven", marks=[needs("maven"), pytest.mark.nightly]),
    ],
)
def test_settings_of_a_temporary_folder_or_a_checkout(source, place, checkout, capsys):
    canary = plant(checkout.with_name(place))
    Path("a.yaml").write_text(SPEC.format(build=f"source: {source}, flags: {{programs: say.sh}}"))
    if place == "checkout":
        build = host_plan.compile_for_host("a.yaml", None).builds[0]
        assert make(Store(), build) == 1
        assert "say.sh" in capsys.readouterr().err, "the client did all that it was asked"
    else:
        assert main(["lock", "a.yaml"]) == 0
        assert main(["outdated", "a.yaml"]) == 0
    assert not canary.exists()


CRATE = {
    "Cargo.toml": '[package]\nname = "say"\nversion = "1.0.0"\nedition = "2021"\n[workspace]\n',
    "src/main.rs": "fn main() {}\n",
    ".cargo/config.toml": "",
}


def make_tree(source, command):
    build = f"source: {source}, flags: {{command: '{command}', programs: target/release/say}}"
    Path("a.yaml").write_text(SPEC.format(build=build).replace("[say.sh]", "[echo]"))
    return make(Store(), host_plan.compile_for_host("a.yaml", None).builds[0])


@needs("cargo")
def test_a_crate_reads_no_settings_above_its_tree(checkout, capsys):
    canary = plant(checkout)
    (checkout / "rust-toolchain.toml").unlink()
    for name, text in CRATE.items():
        (checkout / "say" / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / "say" / name).write_text(text)
    settings = checkout / ".cargo/config.toml"
    named = "{path: say, files: [Cargo.toml, src, .cargo/config.toml]}"
    for source in ("{path: say}", named):
        assert make_tree(source, "cargo build --release --offline") == 1
        assert f"cargo would read {settings}, which is no part of the build: " in capsys.readouterr().err
        assert not canary.exists()
    (checkout / "say/.cargo/config.toml").write_text(settings.read_text())  # now the id has it
    assert make_tree(named, "cargo build --release --offline") == 0
    assert canary.exists()


@pytest.mark.parametrize(("above", "own", "command"), rows(__file__, "settings_above_a_tree_are_refused"))
def test_settings_above_a_tree_are_refused(above, own, command, checkout, capsys):
    for path in (checkout / above, checkout / "say" / own):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert make_tree("{path: say}", command) == 1
    assert f" would read {checkout}/{above.partition('/')[0]}, which is no part of the build" in capsys.readouterr().err


def test_settings_of_home_and_those_that_the_tree_has_are_none(checkout, monkeypatch):
    monkeypatch.setenv("HOME", str(checkout.parent))
    tree = checkout / "say"
    for path in (checkout.parent / "go.work", checkout / "go.mod", tree / "sub/go.mod", tree / "target/release/say"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tree / "target/release/say").chmod(0o755)
    (checkout / "go").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", str(checkout), prepend=":")
    assert make_tree("{path: say}", "go build ./sub") == 0


def test_a_build_sees_no_repository_around_its_attempt(checkout, tmp_path):
    origin = Repository(tmp_path / "origin")
    origin.commit("v1", say_sh="#!/bin/sh\n")
    around = Repository(tmp_path / "around")
    around.git("config", "url.file:///nowhere.insteadOf", origin.url)
    around.git("config", "core.sshCommand", f"touch {tmp_path}/canary")
    (around.folder / ".git").rename(checkout / ".git")
    command = "sh -c 'chmod +x say.sh; rm -rf .git; ! git rev-parse --git-dir'"
    spec = SPEC.format(
        build=f'source: {{git: "{origin.url}", ref: v1}}, flags: {{command: "{command}", programs: say.sh}}'
    )
    Path("a.yaml").write_text(spec)
    assert make(Store(), host_plan.compile_for_host("a.yaml", None).builds[0]) == 0


def test_git_fetches_nothing_to_list_the_files_of_a_folder(tmp_path):
    """An archive may bring a repository that lacks an object, and a command that gets it."""
    tree = Repository(tmp_path / "tree")
    tree.commit(sub__a_py="x")
    (tree.folder / "sub/.gitignore").write_text("*.o\n")
    tree.git("add", "--force", "sub/.gitignore")
    blob = tree.git("rev-parse", ":sub/.gitignore")
    tree.git("update-index", "--skip-worktree", "sub/.gitignore")
    (tree.folder / "sub/.gitignore").unlink()
    (tree.folder / ".git/objects" / blob[:2] / blob[2:]).unlink()
    (tree.folder / "sub/b.py").touch()
    for name, value in {
        "remote.origin.url": "ssh://host.example/x",
        "remote.origin.promisor": "true",
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "core.sshCommand": f"touch {shlex.quote(str(tmp_path / 'canary'))}; false",
    }.items():
        tree.git("config", name, value)
    assert {"sub/a.py", "sub/b.py"} <= {*(chosen_files(tree.folder, ["sub"]) or ())}
    assert not (tmp_path / "canary").exists()


@needs("cargo")
def test_the_user_s_own_settings_hold(tmp_path, monkeypatch):
    """A machine may reach its registry by those alone."""
    (tmp_path / "config.toml").write_text("[net]\noffline = true\n")
    monkeypatch.setenv("CARGO_HOME", str(tmp_path))
    with pytest.raises(BuildError, match="cargo is set to work offline"):
        resolve({"crate": "cfg-if", "version": "1.0.0"}, PlannedBuild("b-0", "b", "program", "", {}), Site())
