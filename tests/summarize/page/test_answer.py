"""The answer: a sentence for each arm, made of what its comparisons came to; text and page say the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from stepgrid.model.plan import SAME_QUALITY
from stepgrid.model.status import Status
from stepgrid.model.table import ABSENT
from stepgrid.summarize.comparisons.comparison import NO_BASE, RATIO, Entry
from stepgrid.summarize.page import answer
from stepgrid.summarize.page.answer import HINTS, IDLE, NOT_COMPARABLE, RATIOS, Arm, Case
from stepgrid.summarize.statistics.confidence_intervals import Interval
from stepgrid.summarize.statistics.verdicts import DIFFERENT, FASTER, INCONCLUSIVE, INDICATIVE, ONE_LOAD, SAME, SLOWER
from tests.summarize import scenario
from tests.summarize.synthetic import Experiment

OLD, NEW = "rocksdb-6.11.4", "rocksdb-7.8.3"
UNLIKE = "a and b were built differently: suite x / y"


def of(*found: tuple[str | None, float], **more: object) -> list[Entry]:
    return [
        Entry(RATIO, interval=Interval(ratio, ratio - 0.01, ratio + 0.01, 3), ratio=ratio, verdict=word, **more)  # type: ignore[arg-type]
        for word, ratio in found
    ]


def said(entries: Sequence[Entry]) -> str:
    """At readww with 1, 2, … threads."""
    cases = (Case(f"readww, threads={at}", entry) for at, entry in enumerate(entries, 1))
    return answer.sentence(Arm("hyper", "lru", tuple(cases)), 0.02)


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        (of((FASTER, 1.5)), "`hyper` is faster than `lru`: 1.50× [1.49, 1.51] (readww, threads=1)"),
        (
            of((FASTER, 1.5), (FASTER, 1.86)),
            "`hyper` is faster than `lru` at 2 of 2 points, 1.50× to 1.86×; strongest: readww, threads=2 [1.85, 1.87]",
        ),
        (
            of((SLOWER, 0.5), (SLOWER, 0.8), (SAME, 1.0), (INCONCLUSIVE, 1.1)),
            "`hyper` is slower than `lru` at 2 of 4 points, 0.50× to 0.80×; strongest: readww, threads=1 "
            "[0.49, 0.51]; 1 same, 1 inconclusive",
        ),
        (
            of((FASTER, 1.5), (ONE_LOAD, 1.2)),
            "`hyper` is faster than `lru` at 1 of 2 points: 1.50× [1.49, 1.51] (readww, threads=1); 1 with one load",
        ),
        (
            of((FASTER, 1.5), (SLOWER, 0.7), (FASTER, 1.2)),
            "`hyper` is faster than `lru` at 2 of 3 points (up to 1.50×: readww, threads=1) and slower at 1 "
            "(down to 0.70×: readww, threads=2)",
        ),
        (
            of((DIFFERENT, 1.02), (SAME, 1.0)),
            "`hyper` differs from `lru` at 1 of 2 points: 1.02× [1.01, 1.03], perhaps by less than the 2 % that count; "
            "1 same",
        ),
        (of((SAME, 1.0), (SAME, 1.01)), "`hyper` is the same as `lru` within 2 % at 2 of 2 points"),
        (
            of((SAME, 1.0), (INCONCLUSIVE, 1.05)),
            "`hyper` is the same as `lru` within 2 % at 1 of 2 points and cannot be told from it at 1: "
            "1.04× to 1.06× are possible",
        ),
        (
            of((INCONCLUSIVE, 0.8), (INCONCLUSIVE, 1.05)),
            "`hyper` cannot be told from `lru` at 2 of 2 points: 0.79× to 1.06× are possible",
        ),
        (
            [Entry(RATIO, interval=Interval(1.0, 1e-3, 1e3, 2), ratio=1.0, verdict=INCONCLUSIVE)],
            "`hyper` cannot be told from `lru` at readww, threads=1: any ratio is possible",
        ),
        (
            of((ONE_LOAD, 1.05), (INDICATIVE, 0.7)),
            "`hyper` against `lru`: one load at 2 of 2 points, no verdict (above 1 at 1, up to 1.05×: readww, "
            "threads=1; below 1 at 1, down to 0.70×: readww, threads=2; 1 indicative)",
        ),
        (
            of((None, 0.9), refusal=UNLIKE),
            f"`hyper` and `lru` are not comparable at readww, threads=1, no verdict (0.90×): {UNLIKE}",
        ),
        (
            of((FASTER, 1.5), (FASTER, 1.6), as_shipped=UNLIKE, doubts=("far",)),
            "`hyper` is faster than `lru` at 2 of 2 points, 1.50× to 1.60×; strongest: readww, threads=2 [1.59, 1.61] "
            "(as shipped); † at 2 differences",
        ),
        (
            [*of((SAME, 1.0)), Entry(RATIO, verdict=INCONCLUSIVE, idle="1 of 3 loads did nothing (0 QPS)")],
            "`hyper` is the same as `lru` within 2 % at 1 of 2 points; 1 inconclusive for loads that did nothing",
        ),
        ([Entry(Status.FAILED), Entry(ABSENT)], "`hyper` has no figures to compare with `lru`; 1 failed"),
        (
            [*of((SAME, 1.0)), Entry(NO_BASE), Entry(Status.UNSUPPORTED)],
            "`hyper` is the same as `lru` within 2 % at readww, threads=1; 1 unsupported",
        ),
    ],
)
def test_what_is_said_of_an_arm(entries: Sequence[Entry], sentence: str) -> None:
    assert said(entries) == sentence


def made(
    root: Path, rates: Mapping[str, Sequence[float]], builds: Sequence[str] = (NEW,), strict: str | None = None
) -> Experiment:
    """Two steps with the same rates of each cache, or of each build, by load."""
    caches = tuple(rates) if len(builds) == 1 else ("lru",)
    base = {"cache": "lru"} if len(builds) == 1 else {"build": builds[0]}
    loads = len(next(iter(rates.values())))
    found = Experiment(
        root, builds=builds, caches=caches, threads=("1",), loads=loads, base=base, seconds=1, strict=strict
    )
    for build in builds:
        found.add_build(build)
        for load in range(loads):
            found.add_load(build, load)
            for name, each in rates.items():
                if name in (*caches, build) and (len(builds) == 1 or name == build):
                    arm = name if len(builds) == 1 else "lru"
                    found.add(build, arm, "1", load, {"readww": each[load], "overwrite": each[load]})
    scenario.report(found)
    return found


def both(found: Experiment) -> tuple[list[str], list[str]]:
    """What the text says in short, hints too, twice."""
    lines = scenario.text(found).splitlines()
    heads = [at for at, line in enumerate(lines) if line[:1].strip()]
    start = next((at for at in heads if lines[at].startswith("in short")), None)
    text = " ".join(lines[start : next(at for at in heads if at > start)]).split() if start is not None else []
    return text[2:], text[2:]


@pytest.mark.parametrize(
    ("rates", "sentences"),
    [
        (
            {"lru": [1000.0, 1100.0, 950.0], "hyper": [1050.0, 1000.0, 1000.0]},
            [
                "`cache=hyper` cannot be told from `cache=lru` at 2 of 2 points: 0.88× to 1.14× are possible",
                RATIOS,
                "Inconclusive: to see 3 %, half of these points need 40 loads, longer steps or a quieter host.",
            ],
        ),
        (
            {"lru": [1000.0, 1100.0, 950.0], "hyper": [1000.0, 1100.0, 950.0]},
            ["`cache=hyper` is the same as `cache=lru` within 2 % at 2 of 2 points", RATIOS],
        ),
        (
            {"lru": [1000.0], "hyper": [1050.0]},
            [
                "`cache=hyper` against `cache=lru`: one load at 2 of 2 points, no verdict (1.05×)",
                RATIOS,
                HINTS[ONE_LOAD],
            ],
        ),
    ],
)
def test_text_and_page_say_the_same(
    tmp_path: Path, rates: Mapping[str, Sequence[float]], sentences: Sequence[str]
) -> None:
    text, page = both(made(tmp_path, rates))
    assert text == page == " ".join(sentences).split()


def test_builds_that_cannot_be_compared_are_no_noise(tmp_path: Path) -> None:
    """6.11.4 and 7.8.3 come from different suites, and the spec is strict."""
    rates = {OLD: [1000.0, 1010.0, 990.0], NEW: [1000.0, 1010.0, 990.0]}
    text, page = both(made(tmp_path, rates, (OLD, NEW), SAME_QUALITY))
    sentence = (
        f"`{NEW}` and `{OLD}` are not comparable at 3 of 3 points, no verdict (1.00×): {OLD} and {NEW} were built "
        f"differently: suite bullseye / bookworm {RATIOS} {HINTS[NOT_COMPARABLE]}"
    )
    assert text == page == sentence.split()


def test_where_nothing_is_compared_nothing_is_said(tmp_path: Path) -> None:
    assert both(made(tmp_path, {"lru": [1000.0, 1010.0, 990.0]})) == ([], [])


def test_of_many_arms_the_text_has_those_that_differ_most(tmp_path: Path) -> None:
    """c0 is the base; each other one is a tenth slower than the one before it."""
    arms = tuple(f"c{number}" for number in range(15))
    found = Experiment(tmp_path, caches=arms, threads=("1",), loads=3, base={"cache": "c0"}, seconds=1)
    found.add_build(NEW)
    for load in range(3):
        found.add_load(NEW, load)
        for number, cache in enumerate(arms):
            rate = 100_000 * 0.9**number * (1 + load / 1000)
            found.add(NEW, cache, "1", load, {"readww": rate, "overwrite": rate})
    lines = answer.lines(scenario.report(found))
    assert lines[0] == "`cache=c3` is slower than `cache=c0` at 2 of 2 points, 0.73×; strongest: readww [0.726, 0.732]"
    assert lines[12:] == ["and 2 arms more, which differ less: the tables have them", RATIOS]


def test_what_even_many_loads_would_not_show(tmp_path: Path) -> None:
    text, _ = both(made(tmp_path, {"lru": [1000.0, 2000.0, 500.0], "hyper": [1050.0, 700.0, 1900.0]}))
    said = "Inconclusive: to see 3 %, half of these points need over 100 loads, longer steps or a quieter host."
    assert " ".join(text).endswith(said)


def test_where_only_the_noise_floor_keeps_from_a_verdict_loads_are_not_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer, "too_wide", lambda report: [])
    text, page = both(made(tmp_path, {"lru": [1000.0, 1100.0, 950.0], "hyper": [1050.0, 1000.0, 1000.0]}))
    said = "Inconclusive: nothing is farther apart here than equal arms in this experiment; a quieter host would tell."
    assert text == page
    assert " ".join(text).endswith(said)


def test_an_arm_that_did_nothing_is_in_the_answer(tmp_path: Path) -> None:
    rates = {"lru": [1000.0, 1001.0, 999.0], "hyper": [0.0, 1001.0, 999.0], "idle": [0.0, 0.0, 0.0]}
    text, page = both(made(tmp_path, rates))
    expected = [
        "`cache=hyper` against `cache=lru` is inconclusive at 2 of 2 points: 1 of 3 loads did nothing (0 QPS)",
        "`cache=idle` against `cache=lru` is inconclusive at 2 of 2 points: 3 of 3 loads did nothing (0 QPS)",
        RATIOS,
        HINTS[IDLE],
    ]
    assert text == page == " ".join(expected).split()


def test_a_difference_that_touches_the_smallest_effect_has_its_own_words(tmp_path: Path) -> None:
    """98 % of the base and 2 % that count: surely a difference, and no loads are asked for."""
    rates = {"lru": [100_000.0, 100_100.0, 99_900.0], "hyper": [98_000.0, 98_100.0, 97_900.0]}
    found = made(tmp_path, rates)
    text, page = both(found)
    sentence = (
        "`cache=hyper` differs from `cache=lru` at 2 of 2 points: 0.98×; strongest: readww [0.976, 0.984], perhaps by "
        "less than the 2 % that count"
    )
    assert text == page == f"{sentence} {RATIOS}".split()
    assert "0.980 [0.976, 0.984] different" in scenario.text(found)
