"""What `make setup` needs on a machine that has little."""

import os
import subprocess
import sys
from pathlib import Path

from scripts import environment
from stepgrid.build.apt import fetch_package
from tests.needs import needs

ROOT = Path(__file__).resolve().parents[2]


@needs("apt")
def test_pip_comes_from_debian_where_there_is_no_ensurepip(tmp_path):
    prefix = fetch_package("python3-pip-whl", tmp_path)
    (wheel,) = (prefix / "usr/share/python-wheels").glob("pip-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    pip = [tmp_path / "venv/bin/python", "-m", "pip", "--version"]
    done = subprocess.run(pip, capture_output=True, text=True, env={"PYTHONPATH": str(wheel)})
    assert done.stdout.startswith(f"pip {wheel.name.split('-')[1]} from ")


def test_without_a_python_that_is_new_enough():
    done = subprocess.run(
        ["sh", ROOT / "scripts/python"], env={**os.environ, "PYTHON": "false"}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == (
        "stepgrid needs Python 3.11, 3.12 or 3.13, and found none among: false.\n"
        "Install one (Debian 12 or later, Ubuntu 24.04 or later: package python3), "
        "or name it: make PYTHON=/path/to/python3.12\n"
    )


def test_the_lock_names_no_index_and_has_a_checksum_for_all():
    text = environment.LOCK.read_text()
    assert "://" not in text
    blocks = [block for block in text.replace("\\\n", "").splitlines() if "==" in block]
    assert blocks
    assert all("--hash=sha256:" in block for block in blocks)


def test_modules_are_compiled_once(tmp_path, monkeypatch):
    """Else each process of a run does it, where the environment keeps Python from writing."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setattr(environment, "ROOT", tmp_path)
    monkeypatch.setattr(environment, "PYTHON", Path(sys.executable))
    (tmp_path / "compiler").mkdir()
    (tmp_path / "compiler" / "a.py").write_text("b = 1\n")
    environment.compile_modules()
    assert [path.name.split(".")[0] for path in (tmp_path / "compiler" / "__pycache__").iterdir()] == ["a"]
