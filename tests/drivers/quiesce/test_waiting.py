from stepgrid.plugins.server import IdleReading
from stepgrid_databases.drivers.quiesce.waiting import Clock, Observation, WaitLimits, watch


def watched(values, quiet, timeout):
    time_now, looks, order = [100.0], list[Observation](), list[str]()
    given = iter(values)

    def sleep(seconds):
        time_now[0] += seconds

    def say(made):
        looks.append(made)
        order.append("look")

    outcome = watch(
        lambda: [IdleReading("debt", next(given), 0), IdleReading("load", 0.5, 1)],
        WaitLimits(quiet, timeout),
        say,
        lambda: order.append("begin"),
        Clock(lambda: time_now[0], sleep),
    )
    return outcome, looks, order


def test_it_ends_when_all_was_idle_for_long_enough():
    outcome, looks, order = watched([3, 2, 0, 0, 0, 0, 0], quiet=3, timeout=100)
    assert (outcome.quiet, outcome.since) == (True, 2 * 0.75)
    assert [look.idle for look in looks] == [False, False, True, True, True, True] + [True] * (len(looks) - 6)
    assert outcome.last.seconds == outcome.since + 3
    assert order[:3] == ["look", "begin", "look"]
    assert order.count("begin") == 1


def test_a_break_begins_it_anew():
    outcome, _, _ = watched([0, 0, 7, 0, 0, 0, 0, 0], quiet=4, timeout=100)
    assert (outcome.quiet, outcome.since, outcome.last.seconds) == (True, 3, 7)


def test_at_the_end_of_the_time_it_goes_on():
    outcome, looks, _ = watched([1] * 9, quiet=8, timeout=5)
    assert (outcome.quiet, outcome.since, outcome.last.seconds) == (False, None, 5)
    assert len(looks) == 6


def test_what_was_quiet_from_the_start_took_no_time():
    outcome, _, _ = watched([0] * 9, quiet=2, timeout=0.1)
    assert (outcome.quiet, outcome.since) == (False, None)
    outcome, _, _ = watched([0] * 9, quiet=2, timeout=5)
    assert (outcome.quiet, outcome.since) == (True, 0)
