import hashlib
import subprocess
from pathlib import Path

import pytest

from stepgrid.build import apt
from stepgrid.build.apt import Mirror
from stepgrid.build.compilation import Development, development
from tests.build.ordering import order
from tests.needs import needs


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real mirror on disk with one package: a header, a header of the platform's own, a library in both forms."""
    arch = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
    made, root = tmp_path / "made", tmp_path / "mirror"
    for name in (
        "include/x.h",
        "include/some-linux-gnu/own.h",
        "lib/some-linux-gnu/libx.a",
        "lib/some-linux-gnu/libx.so",
    ):
        (made / "usr" / name).parent.mkdir(parents=True, exist_ok=True)
        (made / "usr" / name).write_text(name)
    (made / "DEBIAN").mkdir()
    fields = f"Package: libx-dev\nVersion: 1:2.0\nArchitecture: {arch}\nMaintainer: x <x@example.org>\n"
    (made / "DEBIAN" / "control").write_text(f"{fields}Depends: what-nobody-has\nDescription: x\n")
    root.mkdir()
    package = root / f"libx-dev_2.0_{arch}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", str(made), str(package)], check=True, capture_output=True)
    data = package.read_bytes()
    index = f"{fields}Filename: {package.name}\nSize: {len(data)}\nSHA256: {hashlib.sha256(data).hexdigest()}\n"
    packages = root / f"dists/one/main/binary-{arch}/Packages"
    packages.parent.mkdir(parents=True)
    packages.write_text(index)
    listed = f" {hashlib.sha256(index.encode()).hexdigest()} {len(index)} main/binary-{arch}/Packages\n"
    release = f"Suite: one\nCodename: one\nDate: Fri, 20 Nov 2026 00:00:00 UTC\nArchitectures: {arch}\n"
    (root / "dists/one/Release").write_text(f"{release}Components: main\nSHA256:\n{listed}")
    found = Mirror(f"copy:{root}", ("one",), ("main",), (("trusted", "yes"),))
    monkeypatch.setattr(apt, "configured_mirrors", lambda: (found,))


@needs("apt-get", "dpkg-deb")
@pytest.mark.usefixtures("mirror")
def test_headers_and_static_libraries_and_nothing_else(tmp_path: Path):
    found = development(order(tmp_path / "build", {}), ["libx-dev"], "one")
    assert found.folder == tmp_path / "build" / "devel"
    files = sorted(str(path.relative_to(found.folder)) for path in found.folder.rglob("*") if path.is_file())
    assert files == ["include/own.h", "include/x.h", "lib/libx.a"]
    assert [(artifact.name, artifact.version) for artifact in found.artifacts] == [("libx-dev", "1:2.0")]
    assert sorted(path.name for path in (tmp_path / "build").iterdir()) == ["build.log", "devel", "tmp"]
    assert found.search(tmp_path / "build" / "tree" / "rocksdb") == {
        "CPATH": "../../devel/include",
        "LIBRARY_PATH": "../../devel/lib",
    }


def test_those_of_the_machine(tmp_path: Path):
    found = development(order(tmp_path, {}), ["libx-dev"], "system")
    assert found == Development(None)
    assert found.search(tmp_path) == {}
    assert (tmp_path / "build.log").read_text() == "of the machine itself: libx-dev\n"


def test_a_machine_that_is_no_debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert development(order(tmp_path, {}), ["libx-dev"]) == Development(None)
