"""Whether a package registry can be reached: its own client is asked once, and has half a minute to hear anything."""

import functools
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

SECONDS = 25.0  # clients retry for many minutes
_APT = """
import sys
from pathlib import Path
from stepgrid.build.apt import PrivateApt, architecture, configured_mirrors
from stepgrid.build.commands import Commands

folder, known = Path(sys.argv[1]), configured_mirrors()
commands = Commands(folder / "log", folder)
PrivateApt(folder / "apt", commands, architecture(commands)).update(known[:1], known[0].suites[0])
print("answered")
"""
_CRATE = """\
[package]
name = "asks"
version = "0.0.0"
edition = "2018"
[dependencies]
itoa = "=0.0.0"
[workspace]
"""
_ERROR = re.compile(r"\berr(or)?\b|could not|cannot|failed", re.IGNORECASE)
_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"


@dataclass(frozen=True, slots=True)
class Registry:
    program: str
    question: tuple[str, ...]  # for something that no cache holds, so that the registry itself answers
    answer: str  # what the client prints only when it has heard from the registry
    files: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)


REGISTRIES = {
    "apt": Registry(  # the suite's signed release file alone: no list of packages
        "apt-get",
        (sys.executable, "-c", _APT, "."),
        "^answered$",
        {"apt.conf": 'Acquire::IndexTargets::deb::Packages::DefaultEnabled "false";\n'},
        {"APT_CONFIG": "{folder}/apt.conf"},
    ),
    "cargo": Registry(
        "cargo",
        ("cargo", "metadata", "--format-version=1"),
        "candidate versions found",
        {"Cargo.toml": _CRATE, "src/lib.rs": ""},
        {"CARGO_NET_RETRY": "0"},
    ),
    "github": Registry(  # or a mirror that git's own configuration names (`insteadOf`)
        "git",
        ("git", "ls-remote", "https://github.com/facebook/rocksdb.git", "refs/tags/v9.9.3"),
        "refs/tags/v9.9.3",
        env={"GIT_TERMINAL_PROMPT": "0"},
    ),
    "go-modules": Registry(
        "go",
        ("go", "mod", "download", "-json", "golang.org/x/mod@v0.20.0"),
        '"Sum": "h1:',
        env={"GOMODCACHE": "{folder}/cache", "GOTOOLCHAIN": "local", "GOFLAGS": "-modcacherw"},
    ),
    "maven": Registry(
        "mvn",
        ("mvn", "--batch-mode", "--update-snapshots", _COPY, "-Dartifact=org.apache.maven:maven:0.0.0-none"),
        "Downloaded from|Could not find artifact",
    ),
    "npm": Registry(
        "npm",
        ("npm", "view", "yaml-language-server@1.25.0", "version", "--fetch-retries=0"),
        r"^1\.25\.0$",
        env={"npm_config_cache": "{folder}/cache"},
    ),
    "pip": Registry(
        sys.executable,
        (sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--retries=0", "six==0"),
        r"from versions: \d",
    ),
}


@functools.cache
def unreachable(name):
    """Why nothing comes from this registry; empty where it answers."""
    registry = REGISTRIES[name]
    with tempfile.TemporaryDirectory() as folder:
        for file, text in registry.files.items():
            path = Path(folder, file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        answered, said = _ask(registry, Path(folder))
    return "" if answered else f"{name} cannot reach its registry: {said}"


def _ask(registry, folder):
    """Ends the client as soon as it has heard from the registry; otherwise, what it complains of."""
    root = str(Path(__file__).resolve().parents[1])
    own = {name: value.format(folder=folder) for name, value in registry.env.items()}
    env = {**os.environ, "PYTHONPATH": root, "LC_ALL": "C", **own}
    deadline = time.monotonic() + SECONDS
    with (folder / "said").open("w") as said:
        client = subprocess.Popen(
            registry.question, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            start_new_session=True,
        )  # fmt: skip
    while True:
        ended, late = client.poll() is not None, time.monotonic() > deadline
        text = (folder / "said").read_text(encoding="utf-8", errors="replace")
        if (answered := re.search(registry.answer, text, re.MULTILINE) is not None) or ended or late:
            break
        time.sleep(0.1)
    with suppress(ProcessLookupError):
        os.killpg(client.pid, signal.SIGKILL)
    client.wait()
    return answered, _complaint(text) if ended else f"no answer within {SECONDS:g} s"


def _complaint(said):
    """The first line that speaks of an error, else the last."""
    lines = [line.strip() for line in said.splitlines() if line.strip()] or ["it says nothing"]
    return next((line for line in lines if _ERROR.search(line)), lines[-1])[:200]
