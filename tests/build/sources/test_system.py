import hashlib
import sys
from pathlib import Path

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Material, load_source
from tests.build.ordering import order

SCRIPT = "#!/bin/sh\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on PATH with a family of programs."""
    (tmp_path / "bin").mkdir()
    for name in ("server", "client"):
        (tmp_path / "bin" / name).write_text(SCRIPT)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def obtain(folder: Path, given: str, *programs: str) -> Material:
    source = {"system": given}
    return load_source("system").fetch(source, folder, order(folder, source, *programs))


def test_a_real_program(tmp_path: Path):
    real = Path(sys.executable).resolve()
    obtained = obtain(tmp_path, sys.executable, "python")
    digest = hashlib.sha256(real.read_bytes()).hexdigest()
    assert obtained.programs == {"python": Path(sys.executable)}
    assert obtained.facts["files"]["python"]["path"] == str(real)
    assert obtained.quality["sha256"] == {"python": digest}
    assert obtained.quality["route"] == "system"
    assert obtained.artifacts == ()


def test_a_family_is_looked_up_by_name(folder: Path):
    there = folder / "bin"
    expected = {"server": there / "server", "client": there / "client"}
    assert obtain(folder, "server", "server", "client").programs == expected
    assert obtain(folder, str(there / "server"), "server", "client").programs == expected


def test_a_single_program_may_have_a_name_of_its_own(folder: Path):
    assert obtain(folder, "client", "server").programs == {"server": folder / "bin" / "client"}


def test_a_script_has_no_known_compiler(folder: Path):
    assert obtain(folder, "server", "server").quality["compiler"] == "unknown"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("none", "`system: none`: no program none on PATH; install it, or give its absolute path"),
        ("/none/x", "`system: /none/x`: there is no program /none/x, or it is not executable"),
        ("./x", "`system: ./x` is neither a program's name nor an absolute path"),
    ],
)
def test_what_is_not_there(folder: Path, given: str, message: str):
    with pytest.raises(BuildError) as caught:
        obtain(folder, given, "x")
    assert str(caught.value) == message
