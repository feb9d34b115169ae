from __future__ import annotations

import pytest

from compiler.drivers import kinds
from compiler.engines import engine, names


def test_an_unknown_engine_names_the_known_ones() -> None:
    with pytest.raises(LookupError, match=r"^there is no engine 'rocksbd'; the engines are: rocksdb$"):
        engine("rocksbd")


@pytest.mark.parametrize("name", names())
def test_every_engine_has_what_the_protocol_asks_for(name: str) -> None:
    found = engine(name)
    assert found.name == name
    assert found.programs
    assert set(found.kinds) <= set(kinds())
    assert all("*" in pattern for pattern in found.immutable)
