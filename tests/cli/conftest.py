"""What the tests of the command line share."""

import pytest

from stepgrid.language import problems
from tests.cli import bundles
from tests.cli.samples import SPEC


@pytest.fixture(autouse=True)
def sources_are_read_again():
    """Every test has another `a.yaml`; a process of its own has read none before."""
    problems._source.cache_clear()


@pytest.fixture
def folder(tmp_path, monkeypatch, request):
    """A checkout with a spec, the module's own if it has one, and nothing made."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outputs").mkdir()
    (tmp_path / "a.yaml").write_text(getattr(request.module, "SPEC", SPEC))
    return tmp_path


@pytest.fixture
def one(tmp_path, monkeypatch):
    """The current folder: a checkout in which all is measured."""
    return bundles.measured(tmp_path, monkeypatch)


@pytest.fixture
def two(one, monkeypatch):
    """Goes to another checkout, in which nothing is."""
    return bundles.other(one, monkeypatch)
