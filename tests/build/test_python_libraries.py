"""Environments of scripts, by the real clients and an index that is a folder: nothing is fetched from elsewhere."""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from types import MappingProxyType

import pytest

from stepgrid.build import record
from stepgrid.build.job import make
from stepgrid.cli import main
from stepgrid.language import lock_file
from stepgrid.language.problems import Problems
from stepgrid.store.paths import BUILD_FILE
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan
from tests.build.test_archive import zipped
from tests.needs import lacking

SCRIPT = """\
#!/usr/bin/env python3
import sys, thing
print(f"thing {thing.VERSION}, {sys.argv[1]}")
"""
SPEC = """\
title: t
builds:
  b: {{engine: program, {build}}}
steps: [{{name: say, kind: command, argv: ["{{program:{program}}}", hello]}}]
"""


@pytest.fixture(params=["pip", "uv"])
def index(request, tmp_path, monkeypatch):
    """The folder that the client takes packages from: `thing` needs `part`."""
    if request.param == "uv" and (reason := lacking(["uv"])):
        pytest.skip(reason)
    folder = tmp_path / "index"
    folder.mkdir()
    for name, value in {"OFFLINE": "1", "FIND_LINKS": str(folder), "NO_CACHE": "1"}.items():
        monkeypatch.setenv(f"UV_{name}", value)
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(folder), "NO_CACHE_DIR": "1"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.chdir(tmp_path)
    if request.param == "pip":
        folders = os.environ["PATH"].split(os.pathsep)
        monkeypatch.setenv("PATH", os.pathsep.join(path for path in folders if not Path(path, "uv").exists()))
    wheel(folder, "part", "0.1")
    for version in ("1.0", "1.1"):
        wheel(folder, "thing", version, needs=("part",))
    Path("bench").mkdir()
    Path("bench/say.py").write_text(SCRIPT)
    return folder


def wheel(folder, name, version, tag="py3-none-any", needs=(), files=MappingProxyType({})):
    info = f"{name}-{version}.dist-info"
    required = "".join(f"Requires-Dist: {other}\n" for other in needs)
    files = {
        **files,
        f"{name}.py": f"VERSION = '{version}'\ndef main():\n    print('{name} {version}')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{required}",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: {tag}\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name}-says = {name}:main\n",
    }
    sums = {path: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()) for path, text in files.items()}
    lines = [f"{path},sha256={digest.decode().rstrip('=')},{len(files[path])}" for path, digest in sums.items()]
    files[f"{info}/RECORD"] = "".join(f"{line}\n" for line in (*lines, f"{info}/RECORD,,"))
    entries = ((path, 0o100755 if "/scripts/" in path else 0o100644, text) for path, text in files.items())
    return zipped(folder / f"{name}-{version}-{tag}.whl", *entries)


def planned(build, program="say.py"):
    Path("a.yaml").write_text(SPEC.format(build=build, program=program))
    return host_plan.compile_for_host("a.yaml", None).builds[0]


def answer(build, program):
    """Make a build, and start its program where it was published."""
    assert make(Store(), build) == 0
    argv = record.programs(Store().build(build.id))[program]
    return subprocess.run([*argv, "hello"], capture_output=True, text=True, check=True).stdout.strip()


def facts(build):
    return json.loads((Store().build(build.id) / BUILD_FILE).read_text())


IN_TREE = "source: {path: bench}, flags: {programs: say.py}"


def test_a_script_with_libraries(index):
    build = planned(f"{IN_TREE}, requirements: [thing == 1.0]")
    assert answer(build, "say.py") == "thing 1.0, hello"
    content = facts(build)
    assert {"libraries": "part 0.1, thing 1.0"}.items() <= content["facts"].items()
    digest = hashlib.sha256((index / "thing-1.0-py3-none-any.whl").read_bytes()).hexdigest()
    assert {"name": "thing", "version": "1.0", "digest": digest} in content["artifacts"]
    text = (Store().build(build.id) / "environment/pyvenv.cfg").read_text()
    assert "attempts" not in text
    assert [*Store().build(build.id).rglob("thing.cpython-*.pyc")]


def test_nothing_of_a_package_runs_while_its_build_is_made(index):
    canary = Path("canary").absolute()
    code = f"open({str(canary)!r}, 'a').write('ran ')"
    evil = {
        "evil.pth": f"import os; {code}\n",
        "sitecustomize.py": f"{code}\n",
        "usercustomize.py": f"{code}\n",
        "compileall.py": f"{code}\n",
    }
    wheel(index, "thing", "2.0", files=evil)
    build = planned(f"{IN_TREE}, requirements: [thing == 2.0]")
    assert make(Store(), build) == 0
    assert [*Store().build(build.id).rglob("sitecustomize.py")], "it is installed"
    assert [*Store().build(build.id).rglob("thing.cpython-*.pyc")]
    assert not canary.exists()


def test_nor_where_it_takes_the_interpreter_s_place(index):
    canary = Path("canary").absolute()
    script = f"#!/bin/sh\necho ran >>{canary}\n"
    wheel(index, "thing", "2.0", files={f"thing-2.0.data/scripts/{name}": script for name in ("python", "python3")})
    build = planned(f"{IN_TREE}, requirements: [thing == 2.0]")
    make(Store(), build)  # uv refuses such names
    assert not canary.exists()


def test_a_lock_file_holds_what_was_chosen(index, capsys):
    before = planned(f"{IN_TREE}, requirements: [thing]")
    assert answer(before, "say.py") == "thing 1.1, hello"
    assert main(["lock", "a.yaml"]) == 0
    assert "new: requirements thing: part==0.1, thing==1.1" in capsys.readouterr().out
    (pin,) = lock_file.read("a.yaml", Problems()).pins.values()
    assert [line.partition(" ")[0] for line in pin.splitlines()] == ["part==0.1", "thing==1.1"]
    assert planned(f"{IN_TREE}, requirements: [thing]").id == before.id
    wheel(index, "thing", "1.2")
    shutil.rmtree("outputs/builds")
    assert answer(planned(f"{IN_TREE}, requirements: [thing]"), "say.py") == "thing 1.1, hello"


@pytest.mark.parametrize(
    ("requirements", "message"),
    [
        ("[thing==1.2]", r"the index has no thing 1.2 for this Python; did you mean `1.1`\?|no version of thing==1.2"),
        ("[thing==1.0, python>=99]", "the scripts require python>=99, and the Python here is 3"),
        ("[other]", "no wheel of other for this Python|other was not found"),
        ("[thing==1.0, part==0.2]", "the index has no part 0.2|no version of part==0.2"),
    ],
)
def test_what_the_index_has_not(index, capsys, requirements, message):
    build = planned(f"{IN_TREE}, requirements: {requirements}")
    assert make(Store(), build) == 1
    assert re.search(message, " ".join(capsys.readouterr().err.split()))
