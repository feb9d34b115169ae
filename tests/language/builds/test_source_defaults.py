from collections.abc import Mapping
from typing import Any

import pytest

from stepgrid.language.sources import PublishedLibrary, complete_source, source_faults
from stepgrid.plugins.engine import PublishedLibraries
from stepgrid.plugins.registry import engine as engine_named

URL = "https://host.example/a.git"
ROCKSDB, SPEEDB = "https://github.com/facebook/rocksdb.git", "https://github.com/speedb-io/speedb.git"
JNI = "org.rocksdb:rocksdbjni"


def libraries(engine: str) -> Mapping[str, PublishedLibrary]:
    found = engine_named(engine)
    return found.libraries if isinstance(found, PublishedLibraries) else {}


@pytest.mark.parametrize(
    ("engine", "source", "expected"),
    [
        ("rocksdb", {"system": "db_bench"}, {"system": "db_bench"}),
        ("rocksdb", {"git": URL, "ref": "v1"}, {"git": URL, "ref": "v1"}),
        ("mysql", {"maven": "a.b:c:1.0"}, {"maven": "a.b:c:1.0"}),
        ("postgres", {"maven": "a.b:c"}, {"maven": "a.b:c:9.9.3"}),
        ("mysql", {"maven": JNI}, {"maven": f"{JNI}:9.9.3"}),
        ("postgres", {"crate": "a"}, {"crate": "a", "version": "9.9.3"}),
        ("postgres", {"pypi": "a", "version": "2"}, {"pypi": "a", "version": "2"}),
        (
            "rocksdb",
            {"maven": JNI},
            {"maven": f"{JNI}:9.9.3", "classifier": "linux64", "tree": {"git": ROCKSDB, "ref": "v9.9.3"}},
        ),
        (
            "rocksdb",
            {"maven": f"{JNI}:8.5.4", "classifier": "linux64-musl", "tree": {"crate": "x"}},
            {"maven": f"{JNI}:8.5.4", "classifier": "linux64-musl", "tree": {"crate": "x", "version": "9.9.3"}},
        ),
        (
            "rocksdb",
            {"maven": "io.github.speedb-io:speedbjni:2.8.0"},
            {"maven": "io.github.speedb-io:speedbjni:2.8.0", "tree": {"git": SPEEDB, "ref": "speedb/v2.8.0"}},
        ),
        ("rocksdb", {"maven": f"{JNI}:11.8.1"}, {"maven": f"{JNI}:11.8.1", "tree": {"git": ROCKSDB, "ref": "v11.8.1"}}),
        (
            "rocksdb",
            {"maven": "a:b:1", "tree": {"pypi": "x", "version": "2"}},
            {"maven": "a:b:1", "tree": {"pypi": "x", "version": "2", "kind": "sdist"}},
        ),
    ],
)
def test_what_is_understood(engine: str, source: dict[str, Any], expected: dict[str, Any]) -> None:
    found = complete_source(libraries(engine), source, "9.9.3")
    assert found == expected
    assert complete_source(libraries(engine), found, "9.9.3") == found
    assert list(source_faults(found)) == []
