from __future__ import annotations

from stepgrid.layouts.arms import LINKBENCH
from tests.layouts.made import subjects, texts


def test_a_load_has_no_operations() -> None:
    assert LINKBENCH.tables(subjects({"innodb": {"qps": 91427.0}})) == []


def test_a_mix_of_nodes_alone() -> None:
    (found,) = LINKBENCH.tables(subjects({"innodb": {"qps": 7878.0, "getnode_max_us": 4900.0}}))
    assert texts(found) == ["7878 - - - - - - - - - - 4.9 - innodb"]


def test_a_step_that_failed_is_shown() -> None:
    assert len(LINKBENCH.tables(subjects({"innodb": "failed"}))) == 2
