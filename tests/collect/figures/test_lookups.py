"""What lookups cost, of a benchmark that mixes operations."""

from stepgrid.collect.figures import lookups

MIX = {"qps": 1000.0, "gets_per_s": 830.0, "puts_per_s": 140.0, "seeks_per_s": 30.0}


def test_reads_are_those_of_gets_and_seeks_and_writes_those_of_puts() -> None:
    cost = {"reads_per_op": 0.43, "read_kb_per_op": 1.72, "write_kb_per_op": 0.7}
    assert lookups.figures(MIX | cost) == {
        "reads_per_lookup": 0.5,
        "read_kb_per_lookup": 2.0,
        "write_kb_per_put": 5.0,
    }


def test_of_no_operations_there_is_no_cost() -> None:
    gets = {**MIX, "gets_per_s": 1000.0, "puts_per_s": 0.0, "seeks_per_s": 0.0}
    assert lookups.figures(gets | {"reads_per_op": 2.0, "write_kb_per_op": 3.0}) == {"reads_per_lookup": 2.0}
    assert lookups.figures({"qps": 5.0, "reads_per_op": 1.0}) == {}
