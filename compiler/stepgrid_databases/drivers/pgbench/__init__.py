"""Steps of kind pgbench: PostgreSQL's own benchmark program, its built-in scripts or SQL of one's own."""

from __future__ import annotations

import ast
import operator
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from stepgrid.host.failure import tail
from stepgrid.model.plan import Command, Value
from stepgrid.plugins.driver import CountedWork, PackageRunner, ParserMetrics, ParserOutput, SqlOperations
from stepgrid.plugins.work import WorkFigure

if TYPE_CHECKING:
    from stepgrid.model.metrics import Metric
    from stepgrid.plugins.driver import Context, Runner
    from stepgrid.plugins.server import Access

CLIENT = "pgbench"
BUILTIN: Mapping[str, int] = {"tpcb-like": 7, "simple-update": 5, "select-only": 1}  # script -> its SQL statements
_ACCOUNT = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid"
_BALANCES = "UPDATE pgbench_{0}s SET {1}balance = {1}balance + :delta WHERE {1}id = :{1}id"
_UPDATED = tuple(_BALANCES.format(table, table[0]) for table in ("account", "teller", "branche"))
BUILTIN_SQL: Mapping[str, Sequence[str]] = {  # what has a plan
    "tpcb-like": (*_UPDATED, _ACCOUNT),
    "simple-update": (_UPDATED[0], _ACCOUNT),
    "select-only": (_ACCOUNT,),
}
_WRITING = "tpcb-like simple-update"
OPERATIONS = SqlOperations(
    point_read="tpcb-like simple-update select-only",
    insert=f"init {_WRITING}",
    other_update=_WRITING,
    transaction_of_several_statements=_WRITING,
)
LOG = "transactions"  # of the names of its log's files: LOG.PID, and LOG.PID.THREAD of all threads but the first
ACCOUNTS = 100_000  # of a scale
SCALES_PER_S, TRANSACTIONS_PER_S = 1.5, 1000.0  # for estimates: of one client
CLIENT_MOST_PER_S = 10_000  # transactions that a client may reach: only for the size of a log
LOG_LINES = 4_000_000  # some 40 bytes each

_PROGRESS = re.compile(r"^progress: (\d+\.\d+) s, (\d+\.\d+) tps", re.MULTILINE)
_ERROR = re.compile(r"^pgbench\S*: (?:error|fatal): (.+)$", re.MULTILINE)  # a build may have it as pgbench.real
_VARIABLE = re.compile(r"(?<!:):([A-Za-z_]\w*)")
_META = re.compile(r"^[^\S\n]*+(?:\\|--).*$", re.MULTILINE)  # commands of pgbench, comments
_END_SHOWN = 65_536  # bytes of stderr while a step runs: some minutes of progress


class Pgbench(ParserMetrics, ParserOutput, PackageRunner):
    kind = "pgbench"
    revision = 1
    parser = 3
    tables = ("relative", "percentiles", "errors")
    client = "postgres"  # the engine of whose builds its client is one
    runs_remotely = True
    operations = OPERATIONS
    work_figures = (WorkFigure("failed_transactions", "{:.3g} % of the transactions failed", 1.0, of="operations"),)

    def workloads(self, settings: Mapping[str, Any]) -> Sequence[str] | None:
        names = tuple(settings["scripts"] or ("init",))
        return names if {*names} <= {"init", *BUILTIN} else None

    def seed_key(self, settings: Mapping[str, Any]) -> str:
        return ",".join(sorted(settings["scripts"] or ())) or str(settings["action"])

    def estimate(self, settings: Mapping[str, Any]) -> float:
        if settings["action"] == "init":
            return max(1.0, float(settings["scale"] / SCALES_PER_S))
        work = self.counted_work(settings)
        return work.seconds if work else float(settings["duration"])

    def counted_work(self, settings: Mapping[str, Any]) -> CountedWork | None:
        """Return the transactions of all clients, where they end a run."""
        transactions = settings["transactions"] if settings["action"] == "run" else None
        if transactions is None:
            return None
        return CountedWork("transactions", transactions * settings["clients"], transactions / TRANSACTIONS_PER_S)

    def targets(self, settings: Mapping[str, Any]) -> Mapping[str, float]:
        return {"target_transactions_per_s": float(settings["rate"])} if settings.get("rate") else {}

    def files(self, settings: Mapping[str, Any], read_file: Callable[[str], str]) -> Mapping[str, str]:
        """Give each script that is not built in as a file: its text is part of the step's identity."""
        return {
            script_file(name): script["sql"] or read_file(name)
            for name, script in (settings["scripts"] or {}).items()
            if name not in BUILTIN
        }

    def command(self, settings: Mapping[str, Any], options: Mapping[str, Value], context: Context) -> Command:
        """Make no use of `options`: they are the server's, which has them in its configuration."""
        if context.server is None:
            raise ValueError("it needs a server, and the engine of this build is none")
        words = init_words(settings) if settings["action"] == "init" else run_words(settings, context.seed)
        argv = (*context.programs["pgbench"], *words)
        return Command(argv, connection(context.server), settings["duration"])

    def statements(self, settings: Mapping[str, Any], files: Mapping[str, str], engine: str) -> Sequence[str]:
        variables = {name: str(value) for name, value in (settings["variables"] or {}).items()}
        scale, statements = int(settings["scale"] or 1), list[str]()
        for name in settings["scripts"] or ():
            text = files[script_file(name)] if name not in BUILTIN_SQL else ""
            values: dict[str, str] = defaultdict(lambda: str(scale * ACCOUNTS // 2))  # the middle of the table
            values.update(script_values(text, {"scale": str(scale), "client_id": "0", **variables}))
            texts = (part for part in BUILTIN_SQL.get(name) or _META.sub("", text).split(";") if part.strip())
            statements += [_VARIABLE.sub(lambda match: f"'{values[match[1]]}'", part) for part in texts]  # noqa: B023
        return statements

    def complaint(self, folder: Path) -> str | None:
        """Find the first error: those behind it are its consequences."""
        error = _ERROR.search(tail(folder / "stderr", _END_SHOWN))
        return f"pgbench failed: {error[1]}" if error else None

    def printed_figures(self, settings: Mapping[str, Any]) -> Mapping[str, tuple[str, ...]]:
        return {"transactions_per_s": ("tps =",)} if settings["action"] == "run" else {}

    def live(self, folder: Path) -> Sequence[tuple[float, float]]:
        return series(tail(folder / "stderr", _END_SHOWN))

    def own_metrics(self, settings: Mapping[str, Any]) -> Mapping[str, Metric]:
        from stepgrid_databases.drivers.pgbench.parser import script_metrics

        return script_metrics(settings)


# Values that a script sets: of a random one that in the middle

_SET = re.compile(r"^[^\S\n]*+\\set\s+(\w+)\s+(.+)$", re.MULTILINE)
_RANDOM = ("random", "random_exponential", "random_gaussian", "random_zipfian")
_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}


def script_values(script: str, variables: Mapping[str, str]) -> dict[str, str]:
    """Work out the variables of a script, the last value of each; what cannot be worked out is missing."""
    values = dict(variables)
    for name, expression in _SET.findall(script):
        try:
            text = _VARIABLE.sub(lambda match: f"({values[match[1]]})", expression)
            values[name] = str(_number(ast.parse(text.strip(), mode="eval").body))
        except (KeyError, ValueError, SyntaxError, ArithmeticError, RecursionError):
            continue
    return values


def _number(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand)
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _OPERATORS[type(sign)](_number(left), _number(right))
        case ast.Call(func=ast.Name(id=name), args=[least, most, *_]) if name in _RANDOM:
            return (_number(least) + _number(most)) // 2
    raise ValueError(ast.dump(node))


def connection(access: Access) -> Mapping[str, str]:
    """Find the server by libpq's variables: a password in a command line would be for all to see."""
    return {
        "PGHOST": access.host or str(access.sockets),
        "PGPORT": str(access.port),
        "PGUSER": access.user,
        "PGPASSWORD": access.password,
        "PGDATABASE": access.database,
    }


def init_words(settings: Mapping[str, Any]) -> list[str]:
    values = {name: settings[name] for name in ("scale", "fillfactor", "init_steps", "partitions")}
    values["partition_method"] = settings["partition_method"] if settings["partitions"] else None
    switches = [name for name in ("foreign_keys", "unlogged_tables") if settings[name]]
    return ["--initialize", "--quiet", *options(values), *(f"--{name.replace('_', '-')}" for name in switches)]


def run_words(settings: Mapping[str, Any], seed: int) -> list[str]:
    """Vacuum nothing before a run: the spec says when that is done."""
    clients, limit = settings["clients"], settings["latency_limit"]
    values = {
        "client": clients,
        "jobs": settings["jobs"] or clients,
        "time": settings["duration"] and int(settings["duration"]),
        "transactions": settings["transactions"],
        "rate": settings["rate"],
        "protocol": settings["protocol"],
        "latency_limit": limit and limit * 1000,
        "max_tries": settings["max_tries"] if settings["max_tries"] > 1 else None,
        "progress": 1,
        "random_seed": seed,
        # of built-in scripts, pgbench counts the branches instead
        "scale": None if {*settings["scripts"]} & {*BUILTIN} else settings["scale"],
    }
    share = logged_share(settings)
    if share:
        values |= {"log_prefix": LOG, "sampling_rate": f"{share:.6f}" if share < 1 else None}
    return [
        "--no-vacuum",
        *(["--log"] if share else []),
        *(["--report-per-command"] if settings["report_per_command"] else []),
        *options(values),
        *(f"--define={name}={value}" for name, value in settings["variables"].items()),
        *script_words(settings["scripts"]),
    ]


def options(values: Mapping[str, Any]) -> list[str]:
    return [f"--{name.replace('_', '-')}={value}" for name, value in values.items() if value is not None]


def script_words(scripts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Name the scripts in an order of their own: the log has their numbers."""
    words = []
    for name, script in sorted(scripts.items()):
        option, word = ("--builtin", name) if name in BUILTIN else ("--file", script_file(name))
        words.append(f"{option}={word}@{script['weight']}")
    return words


def script_file(name: str) -> str:
    return f"{short_name(name)}.sql"


def short_name(name: str) -> str:
    """Name a script in metrics: tpcb_like, and mine of sql/mine.sql."""
    return re.sub(r"\W", "_", PurePath(name).stem).lower()


def logged_share(settings: Mapping[str, Any]) -> float:
    """Choose the share of transactions that are logged: all, unless the log could become too large."""
    if settings["log"] is not None:
        return float(settings["log"]) / 100
    most = settings["rate"] or settings["clients"] * CLIENT_MOST_PER_S
    lines = settings["duration"] * most if settings["duration"] else settings["transactions"] * settings["clients"]
    return float(min(1.0, LOG_LINES / lines))


def series(text: str) -> list[tuple[float, float]]:
    """Read (seconds since the start, transactions per second) of `--progress`."""
    return [(float(second), float(rate)) for second, rate in _PROGRESS.findall(text)]


DRIVER: Runner = Pgbench()
