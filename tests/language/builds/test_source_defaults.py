import pytest

from stepgrid.language.sources import complete_source, source_faults
from stepgrid.plugins.engine import PublishedLibraries
from stepgrid.plugins.registry import engine as engine_named
from tests.cases import rows

ROCKSDB, SPEEDB = "https://github.com/facebook/rocksdb.git", "https://github.com/speedb-io/speedb.git"


def libraries(engine):
    found = engine_named(engine)
    return found.libraries if isinstance(found, PublishedLibraries) else {}


@pytest.mark.parametrize(("engine", "source", "expected"), rows(__file__, "what is understood"))
def test_what_is_understood(engine, source, expected):
    found = complete_source(libraries(engine), source, "9.9.3")
    assert found == expected
    assert complete_source(libraries(engine), found, "9.9.3") == found
    assert list(source_faults(found)) == []
