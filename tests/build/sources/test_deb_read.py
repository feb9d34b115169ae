"""What a downloaded .deb says of itself."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from stepgrid.build.commands import Commands
from stepgrid.build.debian import read_package
from stepgrid.build.error import BuildError
from tests.needs import needs

pytestmark = needs("dpkg-deb")


def made(folder: Path, control: str) -> Path:
    (folder / "tree" / "DEBIAN").mkdir(parents=True)
    (folder / "tree" / "DEBIAN" / "control").write_text(control)
    subprocess.run(["dpkg-deb", "--build", "tree", "a.deb"], cwd=folder, check=True, capture_output=True)
    return folder / "a.deb"


def test_name_version_and_digest(tmp_path: Path) -> None:
    control = "Package: toy\nVersion: 1:2.3-4\nArchitecture: all\nMaintainer: x <x@host.example>\nDescription: a toy\n"
    file = made(tmp_path, control)
    found = read_package(Commands(tmp_path / "log", tmp_path), file)
    assert (found.name, found.version) == ("toy", "1:2.3-4")
    assert found.digest == hashlib.sha256(file.read_bytes()).hexdigest()


def test_what_is_no_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b.deb").write_text("<html>an error page</html>")
    with pytest.raises(BuildError, match=r"^b\.deb is no Debian package: "):
        read_package(Commands(tmp_path / "log", tmp_path), tmp_path / "b.deb")
