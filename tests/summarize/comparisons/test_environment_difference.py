import json

from stepgrid.summarize.comparisons.environment_difference import EnvironmentDifference
from stepgrid.summarize.comparisons.evidence import marks
from tests.summarize.made import point, run

ARM, BASE = point(run("x", 0, 100.0)), point(run("y", 0, 100.0))


def around(arm, base, **more):
    return EnvironmentDifference({"s-x-0-0/1": arm, "s-y-0-0/1": base}, **more)


def test_alike_they_have_no_mark():
    assert around({"kernel": "6.1"}, {"kernel": "6.1"}).marks(ARM, BASE) == ()


def test_what_differs_is_told_the_base_first():
    arm = {"hostname": "one", "kernel": "6.12", "governor": "performance"}
    base = {"hostname": "two", "kernel": "6.1", "governor": "powersave"}
    assert around(arm, base).caveat(ARM, BASE) == "measured on different hosts"
    assert around(arm, base).marks(ARM, BASE) == (
        "kernel 6.1 / 6.12",
        "governor powersave / performance",
    )


def test_a_host_is_a_block_where_each_load_was_measured_on_one():
    """Ratios are of one load at a time, so hosts that differ between loads are not in them."""
    arm, base = (point(*(run(name, load, 100.0) for load in (0, 1))) for name in "xy")
    hosts = {"s-x-0-0/1": "n1", "s-y-0-0/1": "n1", "s-x-1-0/1": "n2", "s-y-1-0/1": "n2"}
    known = {subject: {"hostname": name} for subject, name in hosts.items()}
    assert EnvironmentDifference(known).caveat(arm, base) is None
    other = EnvironmentDifference(known | {"s-y-1-0/1": {"hostname": "n3"}})
    assert other.caveat(arm, base) == "measured on different hosts"


def test_loads_that_only_one_of_them_has_tell_nothing_of_a_host():
    arm, base = point(run("x", 0, 100.0)), point(run("y", 1, 100.0))
    known = {"s-x-0-0/1": {"hostname": "n1"}, "s-y-1-0/1": {"hostname": "n2"}}
    assert EnvironmentDifference(known).caveat(arm, base) == "measured on different hosts"


def test_another_processor_under_the_same_name_is_another_host():
    one, other = ({"hostname": "bench", "hardware": json.dumps({"cpu": cpu, "cores": 8})} for cpu in ("EPYC", "Xeon"))
    assert around(one, one).caveat(ARM, BASE) is None
    assert around(other, one).caveat(ARM, BASE) == "measured on different hosts: CPU EPYC / Xeon"


def test_where_hardware_is_what_is_compared_there_is_a_mark_alone():
    hosts = {"hostname": "one"}, {"hostname": "two"}
    variants = around(*hosts, machines={"s-x-0-0": "h-big", "s-y-0-0": "h-small"})
    for known in (variants, around(*hosts, across_hosts=True)):
        assert (known.caveat(ARM, BASE), known.marks(ARM, BASE)) == (None, ("another host",))
    same = around(*hosts, machines={"s-x-0-0": "h-big", "s-y-0-0": "h-big"})
    assert same.caveat(ARM, BASE) == "measured on different hosts"


def test_what_was_not_recorded_is_not_different():
    assert around({"kernel": "6.1"}, {}).marks(ARM, BASE) == ()


def test_figures_more_than_a_week_apart_are_marked():
    late = point(run("x", 0, 100.0, minutes=8 * 1440))
    assert around({}, {}).marks(late, BASE) == ("measured 8d00h from the base",)
    assert around({}, {}, within=9 * 86400.0).marks(late, BASE) == ()
    assert around({}, {}, within=60.0).marks(late, BASE) == ("measured 8d00h from the base",)


def test_an_arm_that_was_measured_again_alone_is_marked_by_its_gap():
    """Loads three minutes apart, and one arm of them 16 to 32 minutes later."""
    base = point(*(run("y", load, 100.0, minutes=3.0 * load) for load in range(3)))
    block = point(*(run("x", load, 100.0, minutes=3.0 * load + 1) for load in range(3)))
    later = point(*(run("x", load, 100.0, minutes=3.0 * load + gap) for load, gap in enumerate((16, 24, 32))))
    assert EnvironmentDifference({}).marks(block, base) == ()
    assert EnvironmentDifference({}).marks(later, base) == ("measured 32m00s from the base",)
    assert EnvironmentDifference({}, within=3600.0).marks(later, base) == ()


def test_long_experiments_lie_as_far_apart_as_their_loads():
    base, arm = (
        point(*(run(c, load, 100.0, minutes=120.0 * load + at) for load in range(3))) for c, at in (("y", 0), ("x", 90))
    )
    assert EnvironmentDifference({}).marks(arm, base) == ()


def test_runs_without_a_steady_state_are_counted():
    steady, not_steady = {"steady_change_pct": 1.0, "steady_from_s": 5.0}, {"steady_change_pct": -20.0}
    arm = point(run("x", 0, 100.0, **not_steady), run("x", 1, 100.0, **steady), run("x", 2, 100.0))
    assert list(marks(arm, BASE)) == ["no steady state in 1 of 2 runs (those of the base are too short to tell)"]
    said = "no steady state in 1 of 2 runs of the base (those of this arm are too short to tell)"
    assert list(marks(BASE, arm)) == [said]
    assert list(marks(arm, arm)) == ["no steady state in 1 of 2 runs, in 1 of 2 of the base"]
    assert list(marks(BASE, BASE)) == []
