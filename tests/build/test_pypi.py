"""With the real pip and an index that is a folder: nothing is fetched from elsewhere."""

import gzip
import hashlib

import pytest

from stepgrid.build.error import BuildError
from stepgrid.build.recipe import Artifact
from stepgrid_registries.pypi import Pypi
from tests.build.ordering import order
from tests.build.test_archive import file, tar, zipped
from tests.cases import rows

SETUP = "open({canary!r}, 'w')\nfrom setuptools import setup\nsetup(name='thing', version='1.0')\n"
PROJECT = '[build-system]\nrequires = []\nbuild-backend = "evil"\nbackend-path = ["."]\n'
METADATA = "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n"


@pytest.fixture
def index(tmp_path, monkeypatch):
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    return folder


def sdist(index, *more):
    """One whose code says that it ran."""
    canary = str(index.with_name("canary"))
    members = [file(f"thing-1.0/{name}", PROJECT.encode()) for name in more]
    code = SETUP.format(canary=canary).encode()
    plain = tar(
        index.with_name("plain"),
        file("thing-1.0/PKG-INFO", METADATA.encode()),
        file("thing-1.0/setup.py", code),
        file("thing-1.0/evil.py", code),
        *members,
    )
    packed = index / "thing-1.0.tar.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    return packed


def wheel(index, tag="py3-none-any"):
    info = "thing-1.0.dist-info"
    return zipped(
        index / f"thing-1.0-{tag}.whl",
        ("thing/bin/tool", 0o100755, "tool"),
        (f"{info}/METADATA", 0o644, METADATA),
        (f"{info}/WHEEL", 0o644, f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n"),
        (f"{info}/RECORD", 0o644, ""),
    )


def obtain(tmp_path, **more):
    source = {"pypi": "thing", "version": "1.0", **more}
    return Pypi().fetch(source, tmp_path / "attempt", order(tmp_path / "attempt", source))


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("more", [(), ("pyproject.toml",)])
def test_the_source_of_which_nothing_is_run(tmp_path, index, more):
    wheel(index)
    path = sdist(index, *more)
    found = digest(path)
    material = obtain(tmp_path, kind="sdist")
    assert material.prefix is None
    assert material.tree is not None
    assert (material.tree / "setup.py").is_file()
    assert material.artifacts == (Artifact("thing", "1.0", found),)
    assert material.quality == {"route": "source"}
    assert not (tmp_path / "canary").exists()
    assert sorted(entry.name for entry in (tmp_path / "attempt").iterdir()) == ["build.log", "tmp", "tree"]


def test_a_wrong_checksum(tmp_path, index):
    path = wheel(index)
    with pytest.raises(BuildError) as caught:
        obtain(tmp_path, sha256="0" * 64)
    assert str(caught.value) == (
        f"{path.name} is not the file that the spec means: its sha256 is {digest(path)}, expected {'0' * 64}; "
        "which wheel pip takes is up to its Python: name that one as `python` under `tools:` in the site file"
    )
    assert not (tmp_path / "attempt/prefix").exists()


@pytest.mark.parametrize(("more", "message"), rows(__file__, "what_the_index_has_not"))
def test_what_the_index_has_not(tmp_path, index, more, message):
    wheel(index)
    with pytest.raises(BuildError) as caught:
        obtain(tmp_path, kind="wheel", **more)
    assert str(caught.value) == message
