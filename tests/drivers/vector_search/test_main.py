import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepgrid_databases.drivers.vector_search.__main__ import Recall
from stepgrid_databases.drivers.vector_search.datasets import make
from stepgrid_databases.engines.mysqld import vectors as mariadb
from stepgrid_databases.engines.postgres import vectors as postgres

LINE = make(np.array([[0], [1], [2], [2.0005], [5], [9]], np.float32), np.zeros((1, 1), np.float32), "euclidean")


@pytest.mark.parametrize(
    ("answer", "by_distance", "by_id", "short"),
    [
        ([0, 1, 2], 1, 1, 0),
        ([2, 1, 0], 1, 1, 0),
        ([0, 1, 3], 1, 2 / 3, 0),  # as near as the third but for less than 0.001
        ([0, 1, 4], 2 / 3, 2 / 3, 0),
        ([0, 1], 2 / 3, 2 / 3, 1),
        ([0, 0, 0], 1 / 3, 1 / 3, 1),  # one vector, however often
        ([], 0, 0, 1),
    ],
)
def test_recall_of_an_answer(answer, by_distance, by_id, short):
    found = Recall.of([answer], LINE, 3)
    assert (found.by_distance, found.by_id, found.short) == (pytest.approx(by_distance), pytest.approx(by_id), short)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), distance=st.sampled_from(["euclidean", "angular"]), k=st.integers(1, 20))
def test_the_true_neighbours_have_a_recall_of_1_and_others_less(seed, distance, k):
    draw = np.random.default_rng(seed)
    dataset = make(*(draw.standard_normal((size, 5)).astype(np.float32) for size in (200, 20)), distance)
    answers = dataset.neighbours[:, :k].tolist()
    assert Recall.of(answers, dataset, k) == Recall(1.0, 1.0, 1.0, 1.0, 0)
    far = [[*answer[:-1], int(dataset.neighbours[query, 99])] for query, answer in enumerate(answers)]
    less = Recall.of(far, dataset, k)
    assert less.by_id == pytest.approx(1 - 1 / k)
    assert less.by_id <= less.by_distance <= 1  # among near ones the 100th may be within the tolerance


def test_the_fifth_percentile_is_of_queries():
    draw = np.random.default_rng(1)
    dataset = make(*(draw.standard_normal((size, 5)).astype(np.float32) for size in (500, 100)), "euclidean")
    answers = dataset.neighbours[:, :10].tolist()
    for query in range(10):
        answers[query] = []
    found = Recall.of(answers, dataset, 10)
    assert (found.by_distance, found.by_distance_p5, found.by_id_p5, found.short) == (pytest.approx(0.9), 0, 0, 10)


WIDE = st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=30)
HALF = st.lists(st.floats(width=16, allow_nan=False, allow_infinity=False), min_size=1, max_size=30)


@given(WIDE)
def test_vector_is_two_int16_and_float32_all_big_endian(numbers):
    (sent,) = postgres.encode(np.array([numbers], np.float32), "vector")
    size, unused = struct.unpack_from(">hh", sent)
    assert (size, unused) == (len(numbers), 0)
    assert list(struct.unpack(f">{size}f", sent[4:])) == numbers


@given(HALF)
def test_halfvec_has_half_the_bytes(numbers):
    (sent,) = postgres.encode(np.array([numbers], np.float32), "halfvec")
    assert struct.unpack_from(">hh", sent) == (len(numbers), 0)
    assert list(struct.unpack(f">{len(numbers)}e", sent[4:])) == numbers


@given(WIDE)
def test_mariadb_takes_float32_alone(numbers):
    (sent,) = mariadb.encode(np.array([numbers], np.float32))
    assert list(struct.unpack(f"<{len(numbers)}f", sent)) == numbers


def test_what_does_not_fit_into_halfvec():
    with pytest.raises(ValueError, match=r"^numbers beyond 65504 do not fit into halfvec$"):
        postgres.encode(np.array([[1, 70_000]], np.float32), "halfvec")
