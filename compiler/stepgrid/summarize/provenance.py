"""Provenance of figures: host, databases, spec and plan, commands; and what a reader may run next."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from stepgrid.host.facts import pseudonym
from stepgrid.model import units
from stepgrid.model.plan import MOST_LOADS, is_imported
from stepgrid.model.units import counted, percent
from stepgrid.package import __version__
from stepgrid.plan.difference import yaml_text
from stepgrid.plan.estimate import DIFFERENCE
from stepgrid.summarize.claim_judgement import UNDECIDED
from stepgrid.summarize.claims import Claim
from stepgrid.summarize.comparisons import comparison_axes
from stepgrid.summarize.comparisons.comparison import Comparison
from stepgrid.summarize.comparisons.comparison_axes import Section
from stepgrid.summarize.setup import Facts, Setup
from stepgrid.summarize.statistics.verdicts import INCONCLUSIVE, ONE_LOAD, PATIENCE, needed_loads, too_wide

# Host, databases and origin

SIZES = ("memory", "swap_bytes", "free_bytes")
PRIVATE = ("hostname",)  # of no use to a reader elsewhere
_WAYS = {
    "empty": "made by the steps",
    "there": "of a server that ran before, as it was",
    "replay": "made by running the load again",
    "copy": "copied",
    "mixed": "in part copied",
}


def host_line(hardware: Mapping[str, Any], hosts: Facts) -> str:
    """Describe the host in a line; `hosts`: by result, what each attempt saw."""
    storage, facts = hardware.get("storage") or {}, next(iter(hosts.values()), {})
    names = {pseudonym(host["hostname"]) for host in hosts.values() if "hostname" in host}
    cpu, cores, memory = (hardware.get(name) for name in ("cpu", "cores", "memory"))
    planned = (hardware.get("described") or {}).values()  # under `allow_other_hardware`
    parts = [
        cpu if isinstance(cpu, str) else None,
        counted(cores, "core") if isinstance(cores, int) else None,
        units.size(memory) if isinstance(memory, int | float) else None,
        " on ".join(str(storage[name]) for name in ("filesystem", "device") if storage.get(name)),
        f"kernel {facts['kernel']}" if "kernel" in facts else None,
        f"in place of {', '.join(str(host.get('id', 'the machine of the spec')) for host in planned)}"
        if planned
        else None,
        f"measured on {len(names)} hosts" if len(names) > 1 else None,
    ]
    return ", ".join(part for part in parts if part) or "not recorded"


def host_rows(hardware: Mapping[str, Any], hosts: Facts) -> Iterator[tuple[str, str]]:
    """Yield facts that were planned for, then those that attempts saw, where they have few values."""
    planned = list(_flat("", hardware))
    yield from planned
    for name in dict.fromkeys(name for facts in hosts.values() for name in facts if name not in PRIVATE):
        values = [*dict.fromkeys(facts[name] for facts in hosts.values() if name in facts)]
        if len(values) == 1:
            value = _parsed(values[0])
            facts = value if name == "hardware" and isinstance(value, dict) else {name: value}
            yield from (row for row in _flat("", facts) if row not in planned)
        elif len(values) <= 3:
            yield name.replace("_", " "), " / ".join(values)


def _flat(prefix: str, facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in facts.items():
        if isinstance(value, Mapping):
            yield from _flat(f"{prefix}{name} ", value)
        elif value is not None and name != "declared":
            yield f"{prefix}{name}".replace("_", " "), _value_text(name, value)


def _value_text(name: str, value: Any) -> str:
    if name in SIZES and isinstance(value, int | float):
        return units.size(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_value_text(name, item) for item in value)
    return yaml_text(value) if isinstance(value, Mapping) else str(value)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def database_rows(images: Facts) -> Iterator[tuple[str, str]]:
    """Yield the ways in which databases came about; nothing where none was restored."""
    ways = Counter(facts["method"] for facts in images.values() if "method" in facts)
    if set(ways) - {"empty"}:
        seconds, copied = (
            sum(value for facts in images.values() if isinstance(value := _parsed(facts.get(name, "0")), int | float))
            for name in ("seconds", "copied")
        )
        texts = ", ".join(f"{way_text(way)} ({count})" for way, count in ways.most_common())
        yield "databases", f"{texts}; {units.seconds(seconds)} and {units.size(copied)} of copies in all"


def way_text(way: str) -> str:
    return _WAYS.get(way, f"restored by {way}")


def measured_text(setup: Setup, facts: Mapping[str, Facts]) -> str:
    """2026-11-20, or the first and the last day; then who signed results of other checkouts."""
    days = [*dict.fromkeys(f"{when:%Y-%m-%d}" for when in setup.measured or ())]
    signers = Counter(result.get("signer", "") for result in facts.get("imported", {}).values())
    parts = [f"{counted(signers[name], 'result')} signed by {name}" for name in sorted(signers) if name]
    parts += [f"{counted(signers[''], 'result')} without a verified signature"] if signers[""] else []
    imported = [f"imported: {', '.join(parts)}"] if signers else []
    return "; ".join([" to ".join(days) or "nothing yet", *imported])


def origin_line(setup: Setup) -> str:
    scale = f", scale {setup.scale}" if setup.scale else ""
    return f"spec {setup.spec}{scale}; plan {setup.plan}; stepgrid {__version__}"


# Commands, as somebody would type them beside outputs/

MANY = 24  # commands of a step that are shown whole
# folders before ours
_BEFORE = re.compile(r"(?<![^:;=,])/[^:;=,]*?(?=(?:builds/b|(?:attempts|live)/s)-[0-9a-f]{20})")


class StepCommand(NamedTuple):
    arm: str
    text: str


def commands(section: Section, facts: Facts) -> Iterator[StepCommand]:
    """Yield the command of the first run of each arm that has one; `facts`: of commands."""
    for point in section.points:
        records = (facts.get(f"{run.place[0]}/{run.attempt}/{run.place[1]}", {}) for run in point.runs)
        if record := next((record for record in records if "argv" in record), None):
            arm = comparison_axes.words(comparison_axes.key(point, section.names), section.names)
            yield StepCommand(arm or section.step, command_line(record))


def shorten_commands(commands: Sequence[StepCommand]) -> Sequence[StepCommand]:
    """Keep the first of many commands, and of the others the words in which they differ from it."""
    if len(commands) <= MANY:
        return commands
    first, *arms = commands
    return [first, *(StepCommand(arm, _different_words(first.text, text) or text) for arm, text in arms)]


def _different_words(first: str, text: str) -> str:
    """… --cache_size=8388608 … --bloom_bits=10 …; nothing where they do not stand at the same places."""
    words, arm_words = first.split(" "), text.split(" ")
    if len(words) != len(arm_words):
        return ""
    different = [arm_word for word, arm_word in zip(words, arm_words, strict=True) if word != arm_word]
    return f"… {' … '.join(different)} …" if different else "…"


def command_line(record: Mapping[str, str]) -> str:
    from pydantic_core import from_json  # as json.loads, in half its time

    argv, env = from_json(record["argv"]), from_json(record.get("env", "{}")) or {}
    if argv[1:2] == ["-m"] and "".join(argv[2:3]).startswith("stepgrid."):  # a program of ours
        argv, env = ["python", *argv[1:]], {name: value for name, value in env.items() if name != "PYTHONPATH"}
    return " ".join([*(f"{name}={_quoted(value)}" for name, value in env.items()), *map(_quoted, argv)])


@lru_cache(1 << 16)  # commands of a report are much alike
def _quoted(word: str) -> str:
    return shlex.quote(_BEFORE.sub("outputs/", word))


def dropped_options(sections: Collection[Section], facts: Facts) -> list[str]:
    """List options that a binary lacks and the spec let go: `cache_low_pri_pool_ratio (rocksdb-6.11.4)`."""
    builds: dict[str, dict[str, None]] = {}
    for run in (run for section in sections for point in section.points for run in point.runs):
        record = facts.get(f"{run.place[0]}/{run.attempt}/{run.place[1]}", {})
        if record.get("dropped", "[]") != "[]":
            for name in json.loads(record["dropped"]):
                builds.setdefault(name if isinstance(name, str) else json.dumps(name), {})[run.build] = None
    return [f"{name} ({', '.join(names)})" for name, names in builds.items()]


# Next steps, as commands to paste

COST = "; `stepgrid plan` in place of `stepgrid run` says how long it takes"
USUAL_LOADS = 3  # loads that give verdicts, as a rule


def spec_words(setup: Setup) -> str:
    """Return the words that name spec and scale on a command line."""
    spec = setup.plan if is_imported(setup.spec) else setup.spec
    return shlex.join([spec, *(["--scale", setup.scale] if setup.scale else [])])


class NextStep(NamedTuple):
    command: str
    why: str


def next_steps(
    setup: Setup, comparisons: Sequence[Comparison], claims: Sequence[Claim], missing: int, facts: Mapping[str, Facts]
) -> list[NextStep]:
    """List what to run next; `comparisons`: of the leading metric, `missing`: measured steps without figures."""
    is_from_here, spec = not is_imported(setup.spec), spec_words(setup)
    steps = []
    if is_from_here:
        if missing:
            steps.append((f"run {spec}", "measures what has no figures yet, and nothing twice"))
        steps += _more_loads(setup, spec, comparisons, claims, missing)
        if setup.scale:
            unscaled = f"the whole: sizes and durations of the spec, not of {setup.scale}"
            steps.append((f"run {shlex.quote(setup.spec)}", unscaled))
        if disturbed := sum("warning" in result for result in facts.get("noise", {}).values()):
            again = f"marks the {counted(disturbed, 'disturbed stage')}; the next `run` measures their loads again"
            steps.append((f"doctor {spec}", "checks this host for noise and shows how to fix it"))
            steps.append((f"redo {spec} --disturbed", again))
    if claims:
        steps.append((f"report {spec} --table claims", "every claim at every point, with its numbers"))
    steps.append((f"explain {spec}", "every option and setting of every cell, with the line that it comes from"))
    steps.append((f"compare {setup.plan} {spec}", "later results beside these: after a change, or of another day"))
    return [NextStep(f"stepgrid {command}", why) for command, why in steps]


def _more_loads(
    setup: Setup, spec: str, comparisons: Sequence[Comparison], claims: Sequence[Claim], missing: int
) -> Iterator[tuple[str, str]]:
    entries = [case.entry for comparison in comparisons for case in comparison.cases() if not case.entry.idle]
    verdicts, loads = {entry.verdict for entry in entries}, setup.loads[1]
    is_undecided = any(claim.result == UNDECIDED for claim in claims)
    has_few = loads < USUAL_LOADS and (ONE_LOAD in verdicts or is_undecided)
    if has_few:
        why = f"{USUAL_LOADS} loads of each cell: one gives no verdict, two seldom do{COST}"
        yield f"run {spec} --set repeat={USUAL_LOADS}", why
    if setup.until or has_few:
        return
    intervals = [entry.interval for entry in entries if entry.verdict == INCONCLUSIVE and entry.interval]
    wanted = needed_loads(too_wide(intervals, setup.effect))
    if INCONCLUSIVE in verdicts and (wanted or MOST_LOADS) > loads:
        if wanted is None or wanted > PATIENCE:
            yield f"plan {spec} --budget 2h", "which loads, runs and durations would tell most in two hours"
        else:
            goal = f"enough to see {percent(DIFFERENCE)} at half of the inconclusive points"
            yield f"run {spec} --set repeat={wanted}", f"{goal}; nothing is measured twice{COST}"
    elif is_undecided or not missing:
        why = (
            "twice the loads: intervals narrow"
            if is_undecided
            else "surer: twice the loads make intervals a third narrower"
        )
        yield f"run {spec} --set repeat={2 * loads}", f"{why}, nothing is measured twice{COST}"
