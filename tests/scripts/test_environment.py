"""What setup shows of pip."""

import re
import runpy
import shutil
import subprocess
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
environment = SimpleNamespace(**runpy.run_path(str(ROOT / "scripts" / "environment.py")))
PIP = """\
Ignoring colorama: markers 'sys_platform == "win32"' don't match your environment
Collecting annotated-types==0.8.0 (from -r requirements.lock (line 9))
  Using cached annotated_types-0.8.0-py3-none-any.whl (13 kB)
Requirement already satisfied: packaging==25.0 in .venv/lib/python3.11/site-packages
Collecting scipy==1.17.1 (from -r requirements.lock (line 80))
  Downloading scipy-1.17.1-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl (35.3 MB)
Installing collected packages: annotated-types, scipy
Successfully installed annotated-types-0.8.0 scipy-1.17.1
""".splitlines(keepends=True)


def test_each_package_and_each_download_is_shown():
    assert list(environment.progress(PIP, 4)) == [
        "1 of 4 packages: colorama",
        "2 of 4 packages: annotated-types",
        "3 of 4 packages: packaging",
        "4 of 4 packages: scipy",
        "4 of 4 packages: scipy (35.3 MB)",
        "4 of 4 packages: installing them",
    ]


def test_packages_of_the_lock_file_are_counted(tmp_path):
    lock = tmp_path / "a.lock"
    lock.write_text("# b==1\na==1 \\\n    --hash=sha256:00\n    # via c\nc==2 ; python_version < '3.12'\n")
    assert environment.packages(["--require-hashes", "-r", str(lock)]) == 2
    assert environment.packages(["--editable", "."]) == 0


LOCK = """\
# made by uv
a==1 \\
    --hash=sha256:00
    # via stepgrid (pyproject.toml)
b[x]==1 ; python_full_version < '3.12' \\
    --hash=sha256:01
    # via
    #   a
    #   stepgrid (pyproject.toml:docs)
b==2 ; python_full_version >= '3.12' \\
    --hash=sha256:02
    # via
    #   a
    #   stepgrid (pyproject.toml:docs)
c==1 \\
    --hash=sha256:03
    # via b
d==1 \\
    --hash=sha256:04
    # via stepgrid (pyproject.toml:dev)
"""


@pytest.mark.parametrize(
    ("groups", "packages"),
    [
        ("main", "a==1 b[x]==1 b==2 c==1"),
        ("docs", "b[x]==1 b==2 c==1"),
        ("dev", "d==1"),
        ("docs dev", "b[x]==1 b==2 c==1 d==1"),
    ],
)
def test_a_group_takes_its_part_of_the_lock_file(groups, packages):
    part = environment.locked(LOCK, groups.split())
    assert re.findall(r"^\S+==\d+", part, re.MULTILINE) == packages.split()
    assert part.count("--hash") == len(packages.split())


def test_every_package_of_the_lock_file_is_of_a_group():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    lock = environment.LOCK.read_text(encoding="utf-8")
    groups = ["main", *project["dependency-groups"]]
    assert lock.endswith(environment.locked(lock, groups))
    assert [group for group in groups if not environment.locked(lock, [group])] == []
    assert "\npytest==" not in environment.locked(lock, ["main", "build", "docs"])


# An environment and a site of somebody else


def test_an_environment_of_somebody_else_is_not_ours(tmp_path):
    folder = tmp_path / ".venv"
    assert environment.is_ours(folder)
    folder.mkdir()
    assert environment.is_ours(folder)
    (folder / "pyvenv.cfg").touch()  # as uv makes one, without pip
    assert not environment.is_ours(folder)
    (folder / environment.MARK).touch()
    assert environment.is_ours(folder)
    (tmp_path / "link").symlink_to(folder)
    assert not environment.is_ours(tmp_path / "link")


@pytest.mark.parametrize("is_ours", [False, True])
def test_clean_removes_what_make_made(is_ours, tmp_path):
    theirs = ["site/index.html", ".venv/pyvenv.cfg", "dist/mine.tar.gz", "mine/__pycache__/x"]
    ours = ["dist/stepgrid-1.whl", "tests/__pycache__/x", ".mypy_cache/x"]
    marks = ["site/spec.schema.json", f".venv/{environment.MARK}"] if is_ours else []
    for name in (*theirs, *ours, *marks):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in ("bench", "compiler", "packages", "scripts"):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / "Makefile", tmp_path)
    subprocess.run(["make", "clean"], cwd=tmp_path, capture_output=True, check=True)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} - {"Makefile"}
    assert left == {*theirs[2:]} if is_ours else left == {*theirs}
