"""What a reader must know before believing a figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from stepgrid.model.plan import BUILD, Report
from stepgrid.model.units import counted
from stepgrid.plugins.hit_rate import WARNING
from stepgrid.summarize.comparisons import measurement_gap
from stepgrid.summarize.comparisons.builds import RUNNING, Build, deciding_differences, quality_differences
from stepgrid.summarize.data.tables_reader import Run, Tables
from stepgrid.summarize.notes import database_origin, missed_lookups

_LIBRARY = "such builds compare with each other, not with those compiled from source"


def warnings(planned: Iterable[str], builds: Mapping[str, Build], tables: Tables, report: Report) -> Iterator[str]:
    yield from planned
    yield from _said_by_builds(builds.values())
    yield from _libraries(builds.values())
    yield from _unlike("builds", [build for build in builds.values() if not build.client], report)
    yield from _unlike("clients", [build for build in builds.values() if build.client], report)
    yield from _said_by_steps(tables.runs, {_sentence(text) for build in builds.values() for text in build.warnings})
    yield from missed_lookups.sentences(tables.runs)
    yield from _hosts(tables.facts.get("host", {}))
    yield from _noisy(tables.facts.get("noise", {}), tables.runs)
    yield from _measured_again(tables.facts.get("asked", {}), tables.runs)
    yield from measurement_gap.whole(tables.runs)
    yield from database_origin.mixed(tables.runs, tables.facts.get("image", {}))
    yield from sentences(tables.facts.get("retracted", {}), tables.runs)
    yield from unknown_contents(tables.facts.get("unknown contents", {}), tables.runs)


def scaled(scale: str | None) -> Iterator[str]:
    if scale:
        yield (
            f"measured at scale {scale} and on the host below, whatever the title names: sizes, durations or repeats "
            "that the spec names for this scale, often smaller; what the whole would show may be something else"
        )


def _said_by_builds(builds: Iterable[Build]) -> Iterator[str]:
    names: dict[str, list[str]] = {}
    for build in builds:
        for text in build.warnings:
            names.setdefault(text, []).append(build.name)
    yield from (f"{', '.join(said)}: {_sentence(text)}" for text, said in names.items())


def _unlike(what: str, builds: Sequence[Build], report: Report) -> Iterator[str]:
    qualities = [build.quality for build in builds]
    differing = quality_differences(quality or {} for quality in qualities)
    is_recorded = len(qualities) < 2 or None not in qualities
    why = "; ".join(differing) or "of some it is not recorded how they were made"
    deciding = deciding_differences(builds)
    if report.as_shipped is not None:
        if differing or deciding or not is_recorded:
            why = "; ".join(dict.fromkeys([*deciding, *differing])) or why
            yield f"{what} are compared as shipped ({report.as_shipped}), though made differently: {why}"
        return
    if deciding and is_recorded:
        yield f"{what} that differ in this get no verdict against each other: {'; '.join(deciding)}"
        differing = [text for text in differing if text not in deciding]
        why = "; ".join(differing)
    if not is_recorded or (differing and (report.is_strict or _has_running(builds))):
        yield f"{what} that were made differently get no verdict against each other: {why}"
    elif differing:
        yield f"{what} are compared as shipped, though made differently: {why}"


def _has_running(builds: Iterable[Build]) -> bool:
    return any((build.quality or {}).get("route") == RUNNING for build in builds)


def _libraries(builds: Iterable[Build]) -> Iterator[str]:
    names = [build.name for build in builds if build.is_from_library]
    if names:
        yield f"{', '.join(names)}: the official library, and db_bench compiled against it: {_LIBRARY}"


def _said_by_steps(runs: Sequence[Run], known: set[str]) -> Iterator[str]:
    """What the engine printed during a run and its build record does not say already."""
    names: dict[str, dict[str, None]] = {}
    for run in runs:
        for text in run.warnings:
            if _sentence(text) not in known and WARNING not in text:
                names.setdefault(text, {})[f"{run.step} of {run.build}"] = None
    for text, said in names.items():
        yield f"{', '.join(list(said)[:3])}{' and others' if len(said) > 3 else ''}: {_sentence(text)}"


def _hosts(facts: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    for name in ("kernel", "governor"):
        values = sorted({found[name] for found in facts.values() if name in found})
        if len(values) > 1:
            yield f"the figures come from different settings of the host: {name} {', '.join(values)}"


def _noisy(facts: Mapping[str, Mapping[str, str]], runs: Sequence[Run]) -> Iterator[str]:
    """What else the host did just before a stage was measured."""
    said = {subject: found["warning"] for subject, found in facts.items() if "warning" in found}
    found = {_subject(run): run for run in runs if run.measured and run.attempt}
    names = [_stage(run) for subject, run in found.items() if subject in said]
    if names:
        more = f" and {counted(len(names) - 3, 'other')}" if len(names) > 3 else ""
        where, first = "; ".join(names[:3]), next(iter(said.values()))
        yield f"the host was not quiet before {len(names)} of {counted(len(found), 'stage')} ({where}{more}): {first}"


def _measured_again(asked: Mapping[str, Mapping[str, str]], runs: Sequence[Run]) -> Iterator[str]:
    """Results that somebody asked for beside others: a reader must know that there were some before."""
    there = dict.fromkeys(_subject(run) for run in runs if run.attempt)
    reasons = Counter(asked[each].get("why") or "no reason given" for each in there if each in asked)
    for why, count in reasons.items():
        stages = counted(len(there), "stage")
        yield f"{count} of {stages} measured again on request, and only the newest result counts: {why}"


def _stage(run: Run) -> str:
    """rocksdb-7.8.3, cache=lru, load 1"""
    labels = [f"{axis}={label}" for axis, label in run.labels.items() if axis != BUILD]
    return ", ".join([run.build, *labels, f"load {run.load}"])


def _subject(run: Run) -> str:
    return f"{run.place[0]}/{run.attempt}"


def _sentence(text: str) -> str:
    return text.removeprefix("WARNING:").strip()


# Results that were retracted: how many, and why.


def sentences(retracted: Mapping[str, Mapping[str, str]], runs: Sequence[Run]) -> Iterator[str]:
    """`retracted`: stage/time -> why, who, when. One for each reason, with the steps that the results were of."""
    steps: dict[str, dict[str, None]] = {}
    for run in runs:
        steps.setdefault(run.place[0], {})[f"{run.step} of {run.build}"] = None
    reasons: dict[str, list[str]] = {}
    for subject, note in retracted.items():
        reasons.setdefault(note.get("why", "no reason given"), []).append(subject.partition("/")[0])
    for why, stages in reasons.items():
        of = list(dict.fromkeys(step for stage in stages for step in steps.get(stage, ())))
        named = f"{', '.join(of[:3])}{' and others' if len(of) > 3 else ''}"
        yield f"{counted(len(stages), 'result')} retracted ({named}): {why}"


def unknown_contents(unknown: Mapping[str, Mapping[str, str]], runs: Sequence[Run]) -> Iterator[str]:
    """Of results measured before the checksums of files that commands read were kept. `unknown`: by stage/time."""
    reported = {f"{run.place[0]}/{run.attempt}" for run in runs if run.attempt}
    there = [files["files"] for subject, files in unknown.items() if subject in reported]
    if there:
        names = list(dict.fromkeys(name for each in there for name in each.split(", ")))
        shown = f"{', '.join(names[:3])}{' and others' if len(names) > 3 else ''}"
        yield (
            f"{counted(len(there), 'result')} of unknown file contents: measured before checksums of {shown} "
            "were kept; `stepgrid redo` measures again"
        )
