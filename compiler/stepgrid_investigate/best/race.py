"""A race of arms: which get more loads after each round, until those that are left are within the smallest effect.

All arms have one load. The better quarter then has a second, and the first four a third, which shows the noise. From
then on an arm that is surely worse than another falls, one that is surely within the smallest effect is settled, and
the others have more loads, up to the next look. bench/best.py simulates the error of all looks together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec import Struct

from stepgrid.model.plan import AdaptiveRepeat
from stepgrid.summarize.statistics.confidence_intervals import special
from stepgrid.summarize.statistics.verdicts import HOPELESS
from stepgrid_investigate.best.ranking import LOADS_TO_BEAT, Figures, Ranked, Ranking, Standing, rank_arms

SHOWING_NOISE, FEWEST_SHOWING, MOST_SHOWING = 4, 8, 24  # one arm in four has a second load, from 8 to 24
LEADERS = 4  # that have a third at once


class Race(Struct, frozen=True):
    """What is known after a round, and what the next one adds."""

    ranking: Ranking
    wanted: Mapping[str, int] = {}  # arm -> loads, the best estimate first; empty where the race is over
    hopeless: tuple[str, ...] = ()  # open arms that the most loads would hardly settle


def look(
    figures: Figures, planned: Mapping[str, int], repeat: AdaptiveRepeat, effect: float, is_less_better: bool = False
) -> Race:
    """Look at all figures so far. `planned`: the loads that each arm was to have; some may have no figure."""
    ranking = rank_arms(figures, effect, repeat.level, is_less_better)
    arms, margin = ranking.arms, math.log1p(effect)
    if len(arms) < 2:
        return Race(ranking)
    showing = min(max(math.ceil(len(arms) / SHOWING_NOISE), FEWEST_SHOWING), MOST_SHOWING, len(arms))
    if sum(planned[arm.arm] > 1 for arm in arms) < showing:  # also after a kill, or with loads of another spec
        goals = [min(count, repeat.most) for count in [LOADS_TO_BEAT] * LEADERS + [2] * (showing - LEADERS)]
        first = {arm.arm: goal for arm, goal in zip(arms, goals, strict=False) if planned[arm.arm] < goal}
        if first:
            return Race(ranking, first)
    open_arms = ranking.of(Standing.OPEN)
    hopeless = tuple(
        arm.arm for arm in open_arms if arm.loads >= LOADS_TO_BEAT and _chance(arm, repeat.most, margin) < HOPELESS
    )
    if len(hopeless) == len(open_arms):  # one that is given up alone would keep the others from being settled
        return Race(ranking, {}, hopeless)
    racing = {arm.arm: planned[arm.arm] for arm in open_arms}
    fewest, most = min(racing.values()), max(racing.values())
    goal = most if most > fewest > 1 else repeat.next_look(fewest)  # those behind catch up, side by side from then on
    names = [arms[0].arm, *racing]
    wanted = {name: goal for name in dict.fromkeys(names) if goal and planned[name] < goal}
    return Race(ranking, wanted, hopeless)


def _chance(arm: Ranked, most: int, margin: float) -> float:
    """Foresee whether the most loads settle an arm: its interval is narrower then, and its ratio may have moved."""
    if arm.loads >= most:
        return 1.0
    gap, reach = abs(math.log(arm.ratio)), arm.reach * math.sqrt(arm.loads / most)
    moves = arm.error * math.sqrt(1 - arm.loads / most)
    falls = 1 - special("ndtr", (max(reach, margin - reach) - gap) / moves)
    return float(falls + special("ndtr", (min(reach, margin - reach) - gap) / moves))
