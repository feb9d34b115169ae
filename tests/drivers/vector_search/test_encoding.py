import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid_databases.engines.mysqld import vectors as mariadb
from stepgrid_databases.engines.postgres import vectors as postgres

WIDE = st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=30)
HALF = st.lists(st.floats(width=16, allow_nan=False, allow_infinity=False), min_size=1, max_size=30)


@given(WIDE)
def test_vector_is_two_int16_and_float32_all_big_endian(numbers: list[float]) -> None:
    (sent,) = postgres.encode(np.array([numbers], np.float32), "vector")
    size, unused = struct.unpack_from(">hh", sent)
    assert (size, unused) == (len(numbers), 0)
    assert list(struct.unpack(f">{size}f", sent[4:])) == numbers


@given(HALF)
def test_halfvec_has_half_the_bytes(numbers: list[float]) -> None:
    (sent,) = postgres.encode(np.array([numbers], np.float32), "halfvec")
    assert struct.unpack_from(">hh", sent) == (len(numbers), 0)
    assert list(struct.unpack(f">{len(numbers)}e", sent[4:])) == numbers


@given(WIDE)
def test_mariadb_takes_float32_alone(numbers: list[float]) -> None:
    (sent,) = mariadb.encode(np.array([numbers], np.float32))
    assert list(struct.unpack(f"<{len(numbers)}f", sent)) == numbers


def test_what_does_not_fit_into_halfvec() -> None:
    with pytest.raises(ValueError, match=r"^numbers beyond 65504 do not fit into halfvec$"):
        postgres.encode(np.array([[1, 70_000]], np.float32), "halfvec")
