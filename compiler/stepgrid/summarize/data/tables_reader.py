"""The Parquet tables of a plan, read back as typed values: its runs at once, details of steps when they are needed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from datetime import datetime
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from msgspec import Struct, field

from stepgrid.collect import parquet
from stepgrid.collect.counts import OFF_CPU, PROBE, PROFILE, SESSION_WAITS
from stepgrid.collect.parquet import named
from stepgrid.collect.query import open_tables, table_source
from stepgrid.collect.step_figures import ENGINE
from stepgrid.model import units
from stepgrid.model.figures import LATENCY_CLASSES, LATENCY_LIMITS
from stepgrid.model.result_schema import axis_columns
from stepgrid.model.status import Status
from stepgrid.model.table import group
from stepgrid.plugins.collector import FUNCTIONS
from stepgrid.store.plans import Request

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Place = tuple[str, int]  # key of a step: its stage, and its position there
Row = Mapping[str, Any]


class Run(Struct, frozen=True):
    """A row of `steps`."""

    cell: str
    labels: Mapping[str, str]
    step: str
    kind: str
    measured: bool
    build: str
    build_id: str
    client_id: str | None
    load: int
    run: int
    place: Place
    attempt: str | None
    same_as: str | None
    status: str
    reason: str | None
    log: str | None
    started: datetime | None
    warnings: tuple[str, ...]
    metrics: Mapping[str, float]


class PastFigure(Struct, frozen=True):
    """A row of `history`: a figure of an older result of a stage of the plan."""

    place: Place
    step: str
    kind: str
    cell: str
    load: int
    run: int
    restored: bool
    host: str | None
    qps: float
    attempt: str


Pairs: TypeAlias = tuple[tuple[float, float], ...]  # second and QPS
Series: TypeAlias = Mapping[Place, Pairs]  # of every run


def read_series(folder: Path) -> Series:
    """Read the series of a folder of tables."""
    void = f"SELECT stage, position FROM {table_source(folder, 'steps')} WHERE status = '{Status.FAILED}'"
    source = f"{table_source(folder, 'series')} ANTI JOIN ({void}) USING (stage, position) WHERE qps IS NOT NULL"
    with parquet.connect() as connection:
        rows = connection.execute(f"SELECT stage, position, second, qps FROM {source} ORDER BY ALL").fetchall()
    return {key: tuple(row[2:] for row in members) for key, members in groupby(rows, itemgetter(0, 1))}


# Details of steps: many rows, of which a report shows a few or none.

Window = tuple[str, ...]  # ("5m",): the last five minutes of each step; ("1m", "5m"): from the first to the fifth
Shares = Mapping[str, Sequence[float]]  # operation, "" of all -> per cent in each class of response times
_WINDOW_SLACK = 1.5  # seconds: the last second of a step is seldom whole
_PER_OPERATION = {  # rate by second -> metric per operation, and the factor between them
    "context_switches_per_s": ("context_switches_per_op", 1.0),
    "power_watts": ("energy_uj_per_op", 1e6),
    "process_cores": ("cpu_us_per_op", 1e6),
}


class ClientLine(NamedTuple):
    """An operation of a client over time."""

    client: int
    seconds: Sequence[float]
    rates: Sequence[float]

    @property
    def points(self) -> list[tuple[float, float]]:
        """(second, rate), without a last interval that is less than half as long as the one before."""
        pairs = list(zip(self.seconds, self.rates, strict=True))
        ends = [0.0, *self.seconds][-3:]
        is_last_short = len(ends) == 3 and ends[2] - ends[1] < (ends[1] - ends[0]) / 2
        return pairs[:-1] if is_last_short else pairs


class Event(NamedTuple):
    """Work of an engine, or a state of it, in seconds since its client began to measure."""

    begin: float
    end: float
    kind: str


class DeviceSecond(NamedTuple):
    second: float  # since the client began to measure, at its end
    read: float  # MiB/s
    written: float
    busy: float  # percent


class StepDetails(Struct, frozen=True, dict=True):
    """Rows of the tables by step, each kind read at its first use; without a folder there are none."""

    folder: Path | None = None

    @cached_property
    def client_operations(self) -> Mapping[Place, list[str]]:
        """Operations of each step whose clients report one by one."""
        rows = self._read("SELECT DISTINCT stage, position, operation FROM {rates} ORDER BY ALL")
        return group(((stage, position), name) for stage, position, name in rows)

    def client_lines(self, key: Place, operation: str) -> list[ClientLine]:
        condition = "WHERE stage = ? AND position = ? AND operation = ? ORDER BY ALL"
        rows = self._read(f"SELECT client, second, per_second FROM {{rates}} {condition}", *key, operation)
        lines = []
        for client, members in groupby(rows, itemgetter(0)):
            _, seconds, rates = zip(*members, strict=True)
            lines.append(ClientLine(client, seconds, rates))
        return lines

    def counters(
        self, keys: Collection[Place], sources: Sequence[str] = (ENGINE, FUNCTIONS, PROFILE, OFF_CPU, SESSION_WAITS)
    ) -> Mapping[Place, Mapping[str, Mapping[str, float]]]:
        """Read source -> name -> growth of the counters of engines, CPU by function, and waits."""
        growth: dict[Place, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
        sql = "SELECT stage, position, source, name, grown FROM {counters} WHERE source IN (SELECT unnest(?))"
        for stage, position, source, name, grown in self._read_places(sql, keys, list(sources)):
            growth[stage, position][source][name] = grown
        return growth

    @cached_property
    def profiled_places(self) -> Set[Place]:
        return {
            *self._read("SELECT DISTINCT stage, position FROM {counters} WHERE source IN (?, ?)", FUNCTIONS, PROFILE)
        }

    def named_counters(self, patterns: Collection[str]) -> Mapping[Place, Mapping[str, float]]:
        """Read counters by pattern: those of a server have their own names, those of a probe are `probe.name`."""
        growth: dict[Place, dict[str, float]] = defaultdict(dict)
        if patterns:
            called = f"CASE source WHEN '{ENGINE}' THEN name ELSE source || '.' || name END AS called"
            condition = " OR ".join(["called GLOB ?"] * len(patterns))
            sql = f"FROM (SELECT stage, position, {called}, grown FROM {{counters}}) WHERE {condition}"
            for stage, position, name, grown in self._read(sql, *patterns):
                growth[stage, position][name] = grown
        return growth

    def device_seconds(self, keys: Collection[Place]) -> Mapping[Place, list[DeviceSecond]]:
        """Read the device's figures by second, without seconds in which one of them was not sampled."""
        sql = f"""
            SELECT stage, position, c.second - {self._opening} AS second,
                c.device_read_mb_per_s, c.device_write_mb_per_s, c.device_busy_pct
            FROM {{samples}} AS c JOIN {{steps}} AS s USING (stage, attempt, position) WHERE s.same_as IS NULL"""
        return group(
            ((stage, position), DeviceSecond(*figures))
            for stage, position, *figures in self._read_places(sql, keys)
            if None not in figures and figures[0] > 0
        )

    def events(self, keys: Collection[Place]) -> Mapping[Place, list[Event]]:
        sql = f"""
            SELECT stage, position, c.second - {self._opening} AS begin, begin + c.seconds AS end_, c.kind
            FROM {{events}} AS c JOIN {{steps}} AS s USING (stage, attempt, position)
            WHERE s.same_as IS NULL AND end_ >= 0"""
        rows = self._read_places(sql, keys)
        return group(((stage, position), Event(*parts)) for stage, position, *parts in rows)

    @cached_property
    def _opening(self) -> str:
        """Select the seconds until the database is open: a step is sampled from its start, its client counts later."""
        columns = {name for (name,) in self._read("SELECT column_name FROM (DESCRIBE FROM {steps})")}
        is_timed = {"step_seconds", "uptime_seconds"} <= columns
        return "coalesce(greatest(0, s.step_seconds - s.uptime_seconds), 0)" if is_timed else "0"

    @cached_property
    def wall_seconds(self) -> Mapping[Place, float]:
        """Seconds that the process of each step ran."""
        rows = self._read("SELECT stage, position, step_seconds FROM {steps} WHERE step_seconds IS NOT NULL")
        return {(stage, position): seconds for stage, position, seconds in rows}

    @cached_property
    def levels(self) -> Mapping[Place, Sequence[Row]]:
        """Rows of the compaction tables, of the tree of the data."""
        return self._read_rows("SELECT * FROM {levels} WHERE " + _DATA_LEVELS)

    @cached_property
    def sizes(self) -> Mapping[Place, Sequence[Row]]:
        """Sizes of tables and indexes."""
        return self._read_rows("SELECT * FROM {sizes}")

    @cached_property
    def response_times(self) -> Mapping[Place, Shares]:
        """Shares of operations by class: a bucket of a histogram is in the class of its longest operation."""
        number = " + ".join(f"(most > {limit})::INTEGER" for limit in [*LATENCY_LIMITS.values()][:-1])
        counts: dict[tuple[Place, str], list[float]] = defaultdict(lambda: [0.0] * len(LATENCY_CLASSES))
        for stage, position, operation, at, operations in self._read(
            f"SELECT stage, position, coalesce(operation, '') AS kind, {number} AS class, sum(operations) "
            "FROM {histograms} GROUP BY ALL ORDER BY ALL"
        ):
            counts[(stage, position), operation][at] = operations
        shares: dict[Place, dict[str, list[float]]] = defaultdict(dict)
        for (key, operation), classes in counts.items():
            if total := sum(classes):
                shares[key][operation] = [100 * count / total for count in classes]
        return dict(shares)

    def window(self, window: Window) -> Mapping[Place, Mapping[str, float]]:
        """Compute figures over a part of each step, from its seconds; steps that did not last so long have none."""
        figures: dict[Place, dict[str, float]] = defaultdict(dict)
        ends = [units.quantity(text, "duration") for text in window]
        for table in ("samples", "series"):
            for key, means in self._window_means(table, ends).items():
                figures[key] |= means
        for means in figures.values():
            for name, (metric, factor) in _PER_OPERATION.items():
                if means.get("qps") and name in means:
                    total = means[name] + (means.get("server_cores", 0.0) if name == "process_cores" else 0.0)
                    means[metric] = total * factor / means["qps"]
        return figures

    def _window_means(self, table: str, ends: Sequence[float]) -> Mapping[Place, Mapping[str, float]]:
        """Average the seconds of a window; a second is named by its end."""
        keys = "('stage', 'attempt', 'position', 'step', 'second')"
        columns = self._read(f"SELECT column_name FROM (DESCRIBE FROM {{{table}}}) WHERE column_name NOT IN {keys}")
        names = [name for (name,) in columns]
        if not names:
            return {}
        begin, end = ("last - $1", "last") if len(ends) == 1 else ("$2", "$1")
        rows = self._read(
            f"WITH seconds AS (SELECT *, max(second) OVER (PARTITION BY stage, position) AS last FROM {{{table}}}) "
            f"SELECT stage, position, {', '.join(f'avg({named(name)})' for name in names)} FROM seconds "
            f"WHERE last >= $1 - {_WINDOW_SLACK} AND second > {begin} AND second <= {end} GROUP BY stage, position",
            *reversed(ends),
        )
        return {
            (stage, position): {name: value for name, value in zip(names, values, strict=True) if value is not None}
            for stage, position, *values in rows
        }

    def _read(self, sql: str, *parameters: object) -> list[Any]:
        """Rows of a query, in which {name} stands for a table."""
        if self.folder is None:
            return []
        with parquet.connect() as connection:
            return connection.execute(_with_sources(sql, self.folder), parameters).fetchall()

    def _read_places(self, sql: str, keys: Collection[Place], *parameters: object) -> list[Any]:
        names = [f"{stage}/{position}" for stage, position in keys]
        condition = "AND stage || '/' || position IN (SELECT unnest(?)) ORDER BY ALL"
        return self._read(f"{sql} {condition}", *parameters, names) if keys else []

    def _read_rows(self, sql: str) -> Mapping[Place, Sequence[Row]]:
        if self.folder is None:
            return {}
        with parquet.connect() as connection:
            rows = _rows(connection, _with_sources(sql, self.folder))
        return group(((row["stage"], row["position"]), row) for row in rows)


_DATA_LEVELS = "level IS NOT NULL AND coalesce(family, 'default') = 'default'"


def _with_sources(sql: str, folder: Path) -> str:
    return re.sub(r"{(\w+)}", lambda match: table_source(folder, match[1]), sql)


class Failure(NamedTuple):
    """A failed attempt of a stage, or of a build that is not made."""

    node: str
    step: str
    message: str
    line: str  # of its output, that says most
    log: str

    @property
    def sentence(self) -> str:
        return f"{self.message}: `{self.line}`" if self.line else self.message


class Tables(Struct, frozen=True):
    runs: tuple[Run, ...]
    series: Series
    facts: Mapping[str, Mapping[str, Mapping[str, str]]]  # scope -> subject -> name -> value
    units: Mapping[str, str] = {}  # of metrics
    better: Mapping[str, str] = {}  # metric -> higher or lower, where one of them is
    history: tuple[PastFigure, ...] = ()
    probes: tuple[str, ...] = ()  # metrics of their names
    request: Request | None = None  # that the plan was run by, where it was run here
    details: StepDetails = field(default_factory=StepDetails)

    @property
    def failures(self) -> list[Failure]:
        """Failed attempts, the oldest of a node first."""
        return [
            Failure(subject.partition("/")[0], *(facts.get(name, "") for name in Failure._fields[1:]))
            for subject, facts in sorted(self.facts.get("failed attempt", {}).items())
        ]


# of commands, what a report shows
FACTS = """
SELECT scope, subject, name, value FROM environment
WHERE scope <> 'command' OR name IN ('argv', 'env', 'dropped')
"""
_SAME_IN_RUN = (
    *("cell", "step", "kind", "measured", "build", "build_id", "client_id", "load", "run"),
    *("attempt", "same_as", "status", "reason", "log"),
)
_SAME_IN_PAST = ("step", "kind", "cell", "load", "run", "restored", "host", "qps", "attempt")


def load(folder: Path, axes: Sequence[str]) -> Tables:
    with open_tables(folder) as connection:
        metrics = list(_rows(connection, "SELECT * FROM metrics"))
        history = tuple(
            PastFigure(place=(row["stage"], row["position"]), **{name: row[name] for name in _SAME_IN_PAST})
            for row in _rows(connection, "SELECT * FROM history")
        )
        facts: dict[str, dict[str, dict[str, str]]] = defaultdict(lambda: defaultdict(dict))
        for scope, subject, name, value in connection.execute(FACTS).fetchall():
            facts[scope][subject][name] = value
        return Tables(
            runs=_runs(connection, axes, [metric["name"] for metric in metrics]),
            series=read_series(folder),
            facts=facts,
            units={metric["name"]: metric["unit"] for metric in metrics},
            better={metric["name"]: metric["better"] for metric in metrics if metric["better"]},
            history=history,
            probes=tuple(sorted(metric["name"] for metric in metrics if metric["measured_over"] == PROBE)),
            details=StepDetails(folder),
        )


def _rows(connection: DuckDBPyConnection, sql: str) -> Iterator[Row]:
    result = connection.execute(sql)
    names = [column[0] for column in result.description or ()]
    return (dict(zip(names, row, strict=True)) for row in result.fetchall())


def _runs(connection: DuckDBPyConnection, axes: Sequence[str], metrics: Sequence[str]) -> tuple[Run, ...]:
    columns = axis_columns(axes)
    return tuple(
        Run(
            **{name: row[name] for name in _SAME_IN_RUN},
            labels={axis: row[column] for axis, column in columns.items() if row[column] is not None},
            place=(row["stage"], row["position"]),
            started=row["started"],
            warnings=tuple(row["warnings"] or ()),
            metrics={name: row[name] for name in metrics if row.get(name) is not None},
        )
        for row in _rows(connection, "SELECT * FROM steps")
    )
