"""Parameters of the tests: plug-ins by name, samples of their output, a spec that uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from stepgrid_conformance.support import KINDS, Sweep, samples


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out tests of kinds that the command does not name, rather than skip them."""
    kind = collection_path.stem.removeprefix("test_")
    option = kind if kind in KINDS else "spec" if kind == "sweep" else None
    return True if option and not config.getoption(option) else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat a test with a fixture `engine` for each `--engine`."""
    for kind in KINDS:
        names: list[str] = metafunc.config.getoption(kind)
        if kind in metafunc.fixturenames:
            metafunc.parametrize(kind, names, ids=names)
    if "sample" in metafunc.fixturenames:
        plugins = [name for kind in ("driver", "collector", "importer") for name in metafunc.config.getoption(kind)]
        outputs = [*samples(metafunc.config.getoption("samples"), plugins)]
        metafunc.parametrize("sample", outputs, ids=[sample.title for sample in outputs])


@pytest.fixture(scope="session")
def sweep(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    """Run the spec once for all tests."""
    spec: Path | None = request.config.getoption("spec")
    if spec is None:
        pytest.skip("no `--spec FILE`: nothing is run")
    folder = request.config.getoption("folder") or tmp_path_factory.mktemp("sweep")
    folder.mkdir(parents=True, exist_ok=True)
    sweep = Sweep(spec.resolve(), request.config.getoption("scale"), folder)
    sweep.stepgrid("run")
    return sweep
