"""Figures of other tools, as samples: tables of paths for JSON, of patterns for text, of columns for tables.

A sample is what one process measured of one benchmark: its values are repeats within that process. Reading never
follows what a file names, and every file has a bound.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct

from stepgrid.errors import PROBLEMS, StepgridError
from stepgrid.host import files
from stepgrid.language.problems import nearest
from stepgrid.model.units import counted
from stepgrid.plugins.metrics import METRICS

HIGHER, LOWER = "higher", "lower"
MOST_BYTES = 256 * 2**20  # of a file
MOST_SAMPLES = 200_000
SHOWN_COLUMNS = 12

Json = Any


class ForeignFileError(StepgridError):
    """A file that holds no figures, or damaged ones."""

    status = PROBLEMS


class Sample(Struct, frozen=True):
    """Values that one process measured of one benchmark."""

    step: str
    metric: str
    unit: str
    better: str  # HIGHER, LOWER, or "" where the file does not say
    values: tuple[float, ...]
    process: str = ""  # of several in one file: a load each
    arm: str = ""  # "" : the file is the arm
    labels: Mapping[str, str] = {}  # further axes
    moment: str = ""  # when it was measured, as text that sorts


class ForeignFile(NamedTuple):
    """All samples of a file."""

    path: Path
    tool: str
    samples: tuple[Sample, ...]


# JSON: where each tool keeps what


class JsonForm(Struct, frozen=True):
    """Paths of a tool's JSON: `a.b` below an entry; of several the first that is there."""

    tool: str
    marks: tuple[str, ...]  # paths by which the document is known
    entries: str  # the list of benchmarks; "": the document is the list
    step: tuple[str, ...]  # joined
    values: tuple[str, ...]  # a number, a list, or a list of lists: one for each process
    metric: str
    unit: str  # "@path" below the entry
    better: str
    moment: str = ""  # a path of the document
    unless: Mapping[str, Json] = {}  # entries that are left out


JSON_FORMS = (
    JsonForm("pytest-benchmark", ("machine_info", "benchmarks"), "benchmarks", ("fullname",),
             ("stats.data", "stats.mean"), "time", "s", LOWER, "datetime"),
    JsonForm("Google Benchmark", ("context", "benchmarks"), "benchmarks", ("run_name", "name"), ("real_time",), "time",
             "@time_unit", LOWER, "context.date", {"run_type": "aggregate", "error_occurred": True}),
    JsonForm("hyperfine", ("results.0.command",), "results", ("command",), ("times", "mean"), "time", "s", LOWER),
    JsonForm("JMH", ("0.primaryMetric",), "", ("benchmark", "params"),
             ("primaryMetric.rawData", "primaryMetric.score"), "score", "@primaryMetric.scoreUnit", ""),
)  # fmt: skip


def _at(value: Json, path: str) -> Json:
    """Follow a path through objects and lists; None where it ends."""
    for name in path.split(".") if path else ():
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _read_form(form: JsonForm, document: Json) -> Iterator[Sample]:
    entries = _at(document, form.entries)
    moment = _at(document, form.moment) if form.moment else None
    together: dict[tuple[str, str, str], list[float]] = {}
    for entry in entries if isinstance(entries, list) else ():
        if any(_at(entry, path) == value for path, value in form.unless.items()):
            continue
        if failed := [code for code in _at(entry, "exit_codes") or () if code]:
            raise ForeignFileError(f"{counted(len(failed), 'run')} of `{_at(entry, 'command')}` failed: no figure")
        step = _step_name(entry, form.step)
        unit = str(_at(entry, form.unit[1:]) or "") if form.unit.startswith("@") else form.unit
        figure_values = next((value for path in form.values if (value := _at(entry, path)) is not None), None)
        for process, values in _processes(figure_values):
            together.setdefault((step, unit, process), []).extend(values)
    for (step, unit, process), values in together.items():
        better = form.better or (HIGHER if unit.startswith("ops") else LOWER)
        yield Sample(step, form.metric, unit, better, tuple(values), process, moment=str(moment or ""))


def _step_name(entry: Json, paths: Iterable[str]) -> str:
    words = [value for path in paths if (value := _at(entry, path))]
    if words and isinstance(words[-1], dict):  # parameters
        words[-1] = " ".join(f"{name}={value}" for name, value in sorted(words[-1].items()))
        return " ".join(map(str, words))
    return str(words[0]) if words else "all"


def _processes(value: Json) -> Iterator[tuple[str, list[float]]]:
    if isinstance(value, list) and value and isinstance(value[0], list):
        yield from ((str(index), _numbers(values)) for index, values in enumerate(value, 1))
    elif value is not None:
        yield "", _numbers(_entries(value))


def _entries(value: object) -> list[Json]:
    """Take a list; any other value is a list of one."""
    return value if isinstance(value, list) else [value]


def _numbers(values: Iterable[Json]) -> list[float]:
    return [number for value in values if (number := _number(value)) is not None]


def _number(value: Json) -> float | None:
    """Missing is missing: an empty field, null and NaN are no figures, 0 is one."""
    if value is None or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _clickbench(document: Json) -> Iterator[Sample]:
    """Read ClickBench: for each query the seconds of a cold run and of two hot ones, of which the better counts."""
    moment = str(document.get("date", ""))
    for index, runs in enumerate(document["result"]):
        hot = _numbers(_entries(runs)[1:])
        if hot:
            yield Sample(f"Q{index:02}", "time", "s", LOWER, (min(hot),), moment=moment)


def _asv(document: Json) -> Iterator[Sample]:
    columns = document.get("result_columns") or ["result"]
    for name, raw in document["results"].items():
        row = dict(zip(columns, _entries(raw), strict=False))
        values, samples = _entries(row.get("result")), _entries(row.get("samples"))
        cases = _cases(row.get("params") or [])
        for index, value in enumerate(values):
            several = samples[index] if index < len(samples) else None
            numbers = _numbers(several if isinstance(several, list) else [value])
            label = f"{name}({cases[index]})" if index < len(cases) and cases[index] else name
            unit = "bytes" if "mem_" in name.rpartition(".")[2] else "s"
            if numbers:
                yield Sample(label, "result", unit, LOWER, tuple(numbers))


def _cases(params: Sequence[Sequence[Json]]) -> list[str]:
    """Write the combinations of parameters in asv's order."""
    cases = [""]
    for values in params:
        cases = [", ".join(filter(None, (case, str(value)))) for case in cases for value in values]
        if len(cases) > MOST_SAMPLES:
            raise ForeignFileError(f"more than {MOST_SAMPLES:,} combinations of parameters")
    return cases


def _bencher(document: Json) -> Iterator[Sample]:
    """Read Bencher's format: benchmark -> measure -> value."""
    for name, measures in document.items():
        for measure, entry in measures.items():
            number = _number(_at(entry, "value"))
            if number is not None:
                better = HIGHER if measure == "throughput" else LOWER if measure in ("latency", "file-size") else ""
                yield Sample(name, measure, "ns" if measure == "latency" else "", better, (number,))


def _is_bencher(document: Json) -> bool:
    measures = [entry for value in document.values() if isinstance(value, dict) for entry in value.values()]
    return bool(measures) and all(isinstance(entry, dict) and "value" in entry for entry in measures)


def _read_json(document: Json) -> tuple[str, list[Sample]] | None:
    for form in JSON_FORMS:
        if all(_at(document, mark) is not None for mark in form.marks):
            return form.tool, list(_read_form(form, document))
    if not isinstance(document, dict):
        return None
    if isinstance(document.get("result"), list) and "system" in document:
        return "ClickBench", list(_clickbench(document))
    if isinstance(document.get("results"), dict) and "env_name" in document:
        return "asv", list(_asv(document))
    return ("Bencher", list(_bencher(document))) if _is_bencher(document) else None


# Criterion: a folder for each benchmark, in it one for each baseline


def _read_criterion(folder: Path) -> Iterator[Sample]:
    for path in sorted(folder.rglob("sample.json"))[:MOST_SAMPLES]:
        baseline = path.parent
        if baseline.name in ("change", "report") or baseline.is_symlink():
            continue
        if baseline.name == "new" and _is_copied(path):
            continue
        sample, description = (_json(baseline / name) for name in ("sample.json", "benchmark.json"))
        times, counts = _numbers(_at(sample, "times") or ()), _numbers(_at(sample, "iters") or ())
        if times and len(times) == len(counts) and min(counts) > 0:
            values = tuple(time / count for time, count in zip(times, counts, strict=True))
            title = str(_at(description, "full_id") or baseline.parent.relative_to(folder))
            yield Sample(title, "time", "ns", LOWER, values, arm=baseline.name)


def _is_copied(newest: Path) -> bool:
    """Tell whether the newest samples were saved as a baseline, too: they are of one process."""
    baselines = [path for path in newest.parent.parent.glob("*/sample.json") if path != newest]
    return any(_text(path) == _text(newest) for path in baselines)


# Text: what each tool prints of one run


class TextForm(NamedTuple):
    tool: str
    pattern: re.Pattern[str]  # groups `value` and, where there are several, `step`
    metric: str
    unit: str
    better: str


_NUMBER = r"(?P<value>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"


def _form(tool: str, pattern: str, metric: str, unit: str, better: str) -> TextForm:
    return TextForm(tool, re.compile(pattern.replace("NUMBER", _NUMBER), re.MULTILINE), metric, unit, better)


TEXT_FORMS = (
    _form("go test", r"^(?P<step>Benchmark\S+?)(?:-\d+)?[ \t]+\d+[ \t]+NUMBER ns/op", "time", "ns", LOWER),
    _form("pgbench", r"^tps = NUMBER", "tps", "transactions/s", HIGHER),
    _form("sysbench", r"^ +transactions: +\d+ +\(NUMBER per sec", "tps", "transactions/s", HIGHER),
    _form("HammerDB", r"achieved NUMBER NOPM", "NOPM", "orders/min", HIGHER),
    _form("db_bench", r"^(?P<step>\w+) +: +[\d.]+ micros/op NUMBER ops/sec", "qps", "operations/s", HIGHER),
)


def _read_text(text: str, forms: Iterable[TextForm]) -> tuple[str, list[Sample]] | None:
    for form in forms:
        values: dict[str, list[float]] = {}
        for match in form.pattern.finditer(text):
            groups = match.groupdict()
            number = _number(groups.get("value") or (match.group(1) if match.re.groups else match.group()))
            if number is not None:
                values.setdefault(groups.get("step") or "all", []).append(number)
        if values:
            samples = [Sample(step, form.metric, form.unit, form.better, tuple(all_)) for step, all_ in values.items()]
            return form.tool, samples
    return None


# Tables: a row for each figure

ROLES: Mapping[str, tuple[str, ...]] = {  # names of columns that say what they are
    "arm": ("arm", "variant", "version", "branch", "commit", "build", "engine", "system"),
    "step": ("step", "benchmark", "bench", "query", "test", "workload", "name"),
    "load": ("load", "round", "repeat", "rep", "iteration", "trial", "run", "day", "date"),
    "metric": ("value", "qps", "tps", "time", "seconds", "latency", "p99", "throughput", "ops_per_s"),
}


AXIS_PREFIX = "axis_"  # of columns of our own tables


class Columns(Struct, frozen=True):
    """Names of columns, as asked for; "" is a guess by name."""

    arm: str = ""
    step: str = ""
    load: str = ""
    metric: str = ""
    axes: tuple[str, ...] = ()


def _read_table(rows: Sequence[Mapping[str, Any]], wanted: Columns) -> list[Sample]:
    names = list(rows[0]) if rows else []
    if not all(str(name).isprintable() for name in names):
        raise ForeignFileError("a column's name holds a character that cannot be printed")
    role = {name: _column(names, name, getattr(wanted, name)) for name in ROLES}
    if not role["metric"]:
        raise ForeignFileError(f"no column is known as a metric: name one by `--metric`, of {_listed(names)}")
    used = {*role.values()}
    own_axes = [name for name in names if name.startswith(AXIS_PREFIX) and name not in used]
    axes = [_column(names, "", name) for name in wanted.axes] or own_axes
    axes = axes or [name for name in names if name not in used and _is_axis(rows, name, role)]
    metric = METRICS.get(role["metric"])
    unit, better = (metric.unit, metric.better or "") if metric else ("", "")
    samples = []
    for row in rows:
        number = _number(row.get(role["metric"]))
        text = {key: str(row.get(column) or "") if column else "" for key, column in role.items()}
        if number is not None and (text["arm"] or not role["arm"]):
            labels = {name.removeprefix(AXIS_PREFIX): str(row.get(name, "")) for name in axes}
            samples.append(
                Sample(
                    *(text["step"] or "all", role["metric"], unit, better, (number,)),
                    *(text["load"], text["arm"], labels),
                )
            )
    return samples


def _column(names: Sequence[str], role: str, wanted: str) -> str:
    if wanted:
        column = wanted if wanted in names else f"{AXIS_PREFIX}{wanted}"
        if column not in names:
            raise ForeignFileError(f"there is no column `{wanted}`: {nearest(wanted, names)}")
        return column
    by_name = {name.lower(): name for name in names}
    return next((by_name[word] for word in ROLES.get(role, ()) if word in by_name), "")


def _is_axis(rows: Sequence[Mapping[str, Any]], name: str, role: Mapping[str, str]) -> bool:
    """Tell a text that crosses the arms and the steps from figures, ids and what goes with a step."""
    pairs_by_text: dict[str, set[tuple[str, str]]] = {}
    for row in rows:
        arm, step = (str(row.get(role[key], "")) for key in ("arm", "step"))
        pairs_by_text.setdefault(str(row.get(name, "")), set()).add((arm, step))
    arms = {text: {arm for arm, _ in pairs} for text, pairs in pairs_by_text.items()}
    steps = [{step for _, step in pairs} for pairs in pairs_by_text.values()]
    is_text = any(_number(text) is None for text in pairs_by_text)
    is_of_steps = len(steps) > 1 and len(set.union(*steps)) == sum(map(len, steps)) > 1
    return is_text and len(pairs_by_text) > 1 and all(len(names) > 1 for names in arms.values()) and not is_of_steps


def _listed(names: Sequence[str]) -> str:
    suffix = f" and {len(names) - SHOWN_COLUMNS} more" if len(names) > SHOWN_COLUMNS else ""
    return ", ".join(f"`{name}`" for name in names[:SHOWN_COLUMNS]) + suffix


def _csv_rows(text: str, separator: str) -> list[dict[str, Any]]:
    return list(csv.DictReader(text.splitlines(), delimiter=separator))


def _jsonl_rows(text: str) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    if not all(isinstance(row, dict) for row in rows):
        raise ForeignFileError("a line is no JSON object")
    return rows


def _parquet_rows(path: Path) -> list[dict[str, Any]]:
    from stepgrid.collect import parquet  # duckdb takes a while to import

    with parquet.connect() as connection:
        result = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
        names = [column[0] for column in result.description]
        return [dict(zip(names, row, strict=True)) for row in result.fetchmany(MOST_SAMPLES + 1)]


TABLES: Mapping[str, Callable[[str], list[dict[str, Any]]]] = {
    ".csv": lambda text: _csv_rows(text, ","),
    ".tsv": lambda text: _csv_rows(text, "\t"),
    ".jsonl": _jsonl_rows,
    ".ndjson": _jsonl_rows,
}


# A file


def read(path: Path, columns: Columns, pattern: re.Pattern[str] | None = None) -> ForeignFile:
    """Read a file, or Criterion's folder; a ForeignFileError says what is wrong with it."""
    try:
        tool, samples = _read(path, columns, pattern)
    except ForeignFileError as error:
        raise ForeignFileError(f"{path}: {error}") from None
    except (OSError, csv.Error, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        text = error.strerror if isinstance(error, OSError) and error.strerror else f"cannot be read ({error})"
        raise ForeignFileError(f"{path}: {text}") from None
    samples = [sample for sample in samples if sample.values]
    if not samples:
        raise ForeignFileError(f"{path}: no figures in it")
    if not all(f"{sample.metric}{sample.unit}".isprintable() for sample in samples):
        raise ForeignFileError(f"{path}: a metric or unit holds a character that cannot be printed")
    if len(samples) > MOST_SAMPLES:
        raise ForeignFileError(f"{path}: more than {MOST_SAMPLES:,} figures")
    return ForeignFile(path, tool, tuple(samples))


def _read(path: Path, columns: Columns, pattern: re.Pattern[str] | None) -> tuple[str, list[Sample]]:
    if path.is_dir():
        return "Criterion", list(_read_criterion(path))
    if path.suffix == ".parquet":
        return "Parquet", _read_table(_parquet_rows(path), columns)
    text = _text(path)
    if pattern is not None:
        form = TextForm("pattern", pattern, columns.metric or "value", "", "")
        return _read_text(text, [form]) or ("pattern", [])
    if path.suffix in TABLES:
        return path.suffix[1:].upper(), _read_table(TABLES[path.suffix](text), columns)
    reading = _read_json(json.loads(text)) if text.lstrip()[:1] in ("{", "[") else _read_text(text, TEXT_FORMS)
    if reading is None:
        tools = [
            *(form.tool for form in JSON_FORMS),
            "ClickBench",
            "asv",
            "Bencher",
            *(form.tool for form in TEXT_FORMS),
        ]
        raise ForeignFileError(f"none of {', '.join(tools)} wrote it; `--pattern` reads any text")
    return reading


def _text(path: Path) -> str:
    data = files.read_bytes(path, MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ForeignFileError(f"larger than {MOST_BYTES // 2**20} MiB")
    return data.decode("utf-8", errors="replace")


def _json(path: Path) -> Json:
    return json.loads(_text(path)) if path.is_file() else {}
