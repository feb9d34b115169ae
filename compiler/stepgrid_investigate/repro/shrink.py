"""Shrinking of a script: steps, clients, sizes, time and options go for as long as the script shows the difference.

Each attempt runs the script itself, by turns, until a sequential test has an answer.
"""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from threading import Timer
from typing import Any, NamedTuple, cast

from msgspec import Struct, field

from stepgrid.host.locks import host_lock
from stepgrid.host.processes.signals import die_with_parent
from stepgrid.host.processes.supervision import environment
from stepgrid.model import units
from stepgrid.model.plan import SMALLEST_EFFECT, AdaptiveRepeat
from stepgrid.model.records import replace
from stepgrid.model.secret_variables import secret_name
from stepgrid.model.units import as_number, counted
from stepgrid.plugins.registry import driver
from stepgrid.plugins.settings import Quantity
from stepgrid.store.store import Store
from stepgrid.summarize.comparisons.comparison import ratio_text
from stepgrid.summarize.comparisons.judgement import verdict_of
from stepgrid.summarize.statistics import verdicts
from stepgrid.summarize.statistics.confidence_intervals import Interval, LogRatios, intervals
from stepgrid_investigate.repro import script
from stepgrid_investigate.repro.finding import ReproArm, ReproError
from stepgrid_investigate.repro.script import PREFIX, ROUNDS, SCRIPT, Repro

LOOKS = AdaptiveRepeat(least=3, most=20)  # rounds of an attempt
SHARE = 0.5  # of the first difference, that a smaller script must show
FACTORS = (16, 4, 2)  # by which sizes and times are divided: the largest that holds, again and again
CLIENTS = ("threads", "clients", "jobs")  # settings that become 1
_FIGURES = re.compile(r"^round \d+: .* A ([\d.]+) B ([\d.]+), B/A ")
MOST_NAMES = 6  # in a line
FAILURE = 2  # exit status of the script whose command failed


class Cut(Struct, frozen=True):
    """Parts of a script that are taken away."""

    steps: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    settings: Mapping[str, float] = {}  # setting -> by which it is divided; inf: it becomes 1

    def apply(self, repro: Repro) -> Repro:
        base, arm = (self._cut_arm(arm) for arm in repro.arms)
        return replace(repro, arms=(base, arm), reductions=tuple(self._describe(repro)))

    def _cut_arm(self, arm: ReproArm) -> ReproArm:
        stages = []
        for stage in arm.stages:
            steps = []
            for step in (step for step in stage.steps if step.name not in self.steps):
                options = {name: option for name, option in step.options.items() if name not in self.options}
                settings = {name: self._divide(name, value) for name, value in step.settings.items()}
                steps.append(replace(step, options=options, settings=settings))
            stages += [replace(stage, steps=tuple(steps))] if steps else []
        return replace(arm, stages=tuple(stages))

    def _divide(self, name: str, value: Any) -> Any:
        if name not in self.settings or not as_number(value) is not None:
            return value
        return type(value)(max(1, value // self.settings[name]))

    def _describe(self, repro: Repro) -> Iterator[str]:
        steps = repro.arms[1].steps
        if self.steps:
            yield f"steps: {', '.join(step.name for step in steps if step.name in self.steps)}"
        for name in self.settings:
            for largest in _sizes(repro, [name]).values():
                yield f"`{name}`: {largest:,} before, {self._divide(name, largest):,} now"
        if self.options:
            yield f"options, which have their defaults: {', '.join(sorted(self.options))}"


class ShrinkTrial(NamedTuple):
    """Answer of an attempt."""

    holds: bool
    interval: Interval | None = None
    failure: str = ""

    @property
    def text(self) -> str:
        if self.interval is None:
            return self.failure
        ratio = ratio_text(self.interval.ratio, self.interval)
        return f"{ratio} after {counted(self.interval.loads, 'round')}"


class Shrinking(Struct):
    """Attempts one after the other, a line for each, until everything was tried or the time is used up."""

    repro: Repro
    folder: Path  # attempts run beside it
    within: float  # seconds, from when the host is ours
    say: Callable[[str], None]
    cuts: list[tuple[Cut, int]] = field(default_factory=lambda: [(Cut(), ROUNDS)])  # that held, in so many rounds
    until: float = 0.0

    @property
    def cut(self) -> Cut:
        return self.cuts[-1][0]

    def run(self) -> Repro:
        """Return the smallest script that shows the difference again, with the ratio of these rounds."""
        with host_lock(shared=False):
            self.until = time.monotonic() + self.within
            names = [step.name for step in self.repro.arms[1].steps[:-1]]
            self._remove("steps", names)
            self._divide_settings(CLIENTS, (math.inf,))
            self._divide_settings(self._settings("count"), FACTORS)
            self._divide_settings(self._settings("duration"), FACTORS)
            self._remove("options", self._common_options())
            while True:
                repro = self._confirm()
                if is_shown(repro.finding.interval, self.repro.finding.interval) or len(self.cuts) == 1:
                    return repro
                self.cuts.pop()  # of many attempts one may have held by chance

    def _remove(self, part: str, items: Sequence[str]) -> None:
        """Take items away: all, then halves, quarters and so on of those that are still there."""
        removed: list[str] = []
        size = len(items)
        while size:
            remaining = [item for item in items if item not in removed]
            for start in range(0, len(remaining), size):
                chunk = remaining[start : start + size]
                names = frozenset([*removed, *chunk])
                cut = replace(self.cut, steps=names) if part == "steps" else replace(self.cut, options=names)
                if self._accepts(cut, f"without {', '.join(units.first(chunk, MOST_NAMES))}"):
                    removed += chunk
            size //= 2

    def _settings(self, kind: str) -> list[str]:
        """List the settings of a quantity that some step has."""
        names: dict[str, None] = {}
        for step in self.repro.arms[1].steps:
            for name, info in driver(step.kind).settings_model().model_fields.items():
                is_meant = any(isinstance(part, Quantity) and part.kind == kind for part in info.metadata)
                if is_meant and name not in CLIENTS and as_number(step.settings.get(name)) is not None:
                    names[name] = None
        return list(names)

    def _divide_settings(self, names: Sequence[str], factors: Sequence[float]) -> None:
        for factor in factors:
            while True:
                current = self.cut.apply(self.repro)
                divided = {name: self.cut.settings.get(name, 1) * factor for name in names}
                cut = replace(self.cut, settings={**self.cut.settings, **divided})
                smaller = cut.apply(self.repro)
                values = [_sizes(other, names) for other in (current, smaller)]
                if values[0] == values[1]:
                    break
                text = ", ".join(f"{name} {value:,}" for name, value in values[1].items())
                if not self._accepts(cut, text):
                    break

    def _common_options(self) -> list[str]:
        """List options that both arms have alike in all steps."""
        base, arm = ({step.name: step.options for step in arm.steps} for arm in self.repro.arms)
        names = dict.fromkeys(name for options in arm.values() for name in options)
        steps = dict.fromkeys([*base, *arm])
        return [
            name for name in names if all(base.get(step, {}).get(name) == arm.get(step, {}).get(name) for step in steps)
        ]

    def _accepts(self, cut: Cut, title: str) -> bool:
        if time.monotonic() > self.until:
            return False
        trial = self._attempt(cut.apply(self.repro))
        self.say(f"{title}: {trial.text}: {'taken away' if trial.holds else 'needed'}")
        if trial.holds and trial.interval:
            self.cuts.append((cut, max(ROUNDS, trial.interval.loads)))
        return trial.holds

    def _judge(self, logs: Sequence[float]) -> ShrinkTrial | None:
        """Decide whether the difference is there; None: more rounds are needed."""
        interval = intervals([LogRatios(tuple(logs))], LOOKS.level)[0] if len(logs) in LOOKS.looks else None
        if interval is None:
            return None
        if verdicts.verdict(interval.low, interval.high, SMALLEST_EFFECT) not in verdicts.OPEN:
            return ShrinkTrial(is_shown(interval, self.repro.finding.interval), interval)
        chance = verdicts.chance_of_decision(interval, LOOKS.most, verdicts.StoppingRule(SMALLEST_EFFECT))
        return ShrinkTrial(False, interval) if chance < verdicts.HOPELESS or len(logs) >= LOOKS.most else None

    def _attempt(self, repro: Repro) -> ShrinkTrial:
        logs: list[float] = []
        try:
            with closing(run_rounds(repro, self.folder, LOOKS.most, self.until)) as rounds:
                for log in rounds:
                    logs.append(log)
                    if trial := self._judge(logs):
                        return trial
        except ReproError as error:
            return ShrinkTrial(False, failure=str(error))
        return ShrinkTrial(False, failure="the time was used up")

    def _confirm(self) -> Repro:
        """Run all rounds of the smallest script once more: its ratio is free of the luck by which it was chosen."""
        cut, rounds = self.cuts[-1]
        repro, began = cut.apply(self.repro), time.monotonic()
        interval = intervals([LogRatios(tuple(run_rounds(repro, self.folder, rounds, math.inf)))])[0]
        assert interval is not None
        self.say(f"once more: {ratio_text(interval.ratio, interval)} after {counted(rounds, 'round')}")
        word = verdict_of(interval, SMALLEST_EFFECT, repro.finding.metric)
        finding = replace(repro.finding, interval=interval, verdict=word)
        return replace(repro, finding=finding, rounds=rounds, seconds=time.monotonic() - began)


def is_shown(interval: Interval, first: Interval) -> bool:
    """Tell whether a difference is there for sure, and large enough."""
    word = verdicts.verdict(interval.low, interval.high, SMALLEST_EFFECT)
    is_same = word == (verdicts.FASTER if first.ratio > 1 else verdicts.SLOWER)
    return is_same and math.log(interval.ratio) / math.log(first.ratio) >= SHARE


def run_rounds(repro: Repro, folder: Path, rounds: int, until: float) -> Generator[float]:
    """Run a script in a folder beside `folder`; yield the logarithm of each round's ratio until the time is over."""
    with ExitStack() as stack:
        trial_folder = stack.enter_context(tempfile.TemporaryDirectory(prefix=".repro-", dir=folder.absolute().parent))
        script.write(repro, Path(trial_folder))
        process = subprocess.Popen(
            ["sh", Path(trial_folder) / SCRIPT],
            env=environment(
                "sh", {f"{PREFIX}ROUNDS": str(rounds), **_secrets(repro)}
            ),  # a user's own variables would change the script
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=die_with_parent(),
        )
        stack.callback(_end, process)
        if until < math.inf:
            timer = Timer(max(until - time.monotonic(), 0), _end, [process])
            timer.start()
            stack.callback(timer.cancel)
        line = ""
        for line in process.stdout or ():
            if match := _FIGURES.match(line):
                yield math.log(float(match[2]) / float(match[1]))
        if process.wait() == FAILURE:
            raise ReproError(line.strip().removeprefix("repro: "))


def _secrets(repro: Repro) -> dict[str, str]:
    """Give a script the values of secrets, as a job has them."""
    digests = script.secret_digests(repro).items()
    try:
        return {script.secret_variable(name): Store().read_secret(secret_name(digest)) for name, digest in digests}
    except LookupError as error:
        raise ReproError(str(error.args[0])) from None


def _end(process: subprocess.Popen[str]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _sizes(repro: Repro, names: Sequence[str]) -> dict[str, float]:
    """Return the largest value of each setting."""
    sizes: dict[str, float] = {}
    for step in repro.arms[1].steps:
        for name in names:
            if as_number(value := step.settings.get(name)) is not None:
                sizes[name] = max(sizes.get(name, 0), cast(float, value))
    return sizes
