"""What the tests are asked about: plug-ins by name, samples of their output, a spec that uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid.conformance.options import KINDS
from stepgrid.conformance.samples import samples
from stepgrid.conformance.sweep import Sweep


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Tests of kinds that nobody asked for are none that were skipped."""
    kind = collection_path.stem.removeprefix("test_")
    unasked = (kind in KINDS and not config.getoption(kind)) or (kind == "sweep" and not config.getoption("spec"))
    return unasked or None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that asks for `engine` is there once for each `--engine`."""
    for kind in KINDS:
        names: list[str] = metafunc.config.getoption(kind)
        if kind in metafunc.fixturenames:
            metafunc.parametrize(kind, names, ids=names)
    if "sample" in metafunc.fixturenames:
        asked = [name for kind in ("driver", "collector", "importer") for name in metafunc.config.getoption(kind)]
        found = [*samples(metafunc.config.getoption("samples"), asked)]
        metafunc.parametrize("sample", found, ids=[each.title for each in found])


@pytest.fixture(scope="session")
def sweep(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """The spec's results, measured once."""
    spec: Path | None = request.config.getoption("spec")
    if spec is None:
        pytest.skip("no `--spec FILE`: nothing is run")
    folder = request.config.getoption("folder") or tmp_path_factory.mktemp("sweep")
    return Sweep.of(spec.resolve(), request.config.getoption("scale"), folder)
