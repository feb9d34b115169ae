import pytest

from stepgrid.store.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "outputs")
