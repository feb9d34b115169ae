"""Statements that a step's client sends, and their query plans: what a kind and a server engine declare for them.

Values stand for parameters, so that any release can explain them: ids from the middle of a table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from stepgrid.model.records import Json
from stepgrid.plugins.server import Connection

PLANS_FILE = "plans.json"  # beside the statistics of a step
MOST = 20  # statements of a step
_LONGEST_NAME = 300  # characters of a name
_VERBS = ("select", "with", "update", "delete")
_BETWEEN = re.compile(r"BETWEEN \? AND \?", re.IGNORECASE)
_LITERAL = re.compile(r"'[^']*'|\b\d+(?:\.\d+)?\b")
_LIST = re.compile(r"\?(?:\s*,\s*\?)+")
_INDEXES = re.compile(r"\busing ([^\s,]+(?:,[^\s,]+)*)")


@runtime_checkable
class ClientStatements(Protocol):
    """A kind that knows the statements of its steps."""

    def statements(self, settings: Mapping[str, Json], files: Mapping[str, str], engine: str) -> Sequence[str]:
        """List them with values. `files`: of the step, by name; `engine`: of the server."""
        ...


@runtime_checkable
class PlanReader(Protocol):
    """A server engine that explains statements."""

    def explain(self, connection: Connection, sql: str) -> Sequence[str]:
        """List the nodes of its plan, an index as `using NAME`, no costs; nothing where it depends on the values."""
        ...


@runtime_checkable
class IndexReader(Protocol):
    """A server engine that tells the definitions of indexes: two of one name may have other columns."""

    def index_definitions(self, connection: Connection, names: Sequence[str]) -> Mapping[str, str]:
        """Return `index NAME of TABLE` -> its columns in order, as the server writes them."""
        ...


INDEX = "index "  # the beginning of such a name, which no statement has


def named_statements(statements: Iterable[str]) -> dict[str, str]:
    """Choose what has a plan; name it by its text without values, alike in all arms."""
    named: dict[str, str] = {}
    for sql in statements:
        # of several in one text, EXPLAIN would be of the first, and the server would run the others
        if sql.split(maxsplit=1)[0].lower() in _VERBS and ";" not in sql.strip().rstrip("; "):
            name = _LIST.sub("?, …", _LITERAL.sub("?", " ".join(sql.split()).rstrip("; ")))
            named.setdefault(name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…", sql)
    return dict([*named.items()][:MOST])


def with_values(sql: str, first: int, span: int = 1) -> str:
    """Replace `?` by quoted numbers, which any type takes: from `first` on, and ranges of `span`."""
    sql = _BETWEEN.sub(f"BETWEEN '{first}' AND '{first + span}'", sql)
    head, *parts = sql.split("?")
    return head + "".join(f"'{first + index}'{part}" for index, part in enumerate(parts))


def plan_text(nodes: Sequence[str]) -> str:
    """Join nodes; of some that differ in their numbers, as partitions do, one is named."""
    by_form: dict[str, list[str]] = {}
    for node in nodes:
        by_form.setdefault(re.sub(r"\d+", "N", node), []).append(node)
    return " / ".join(form if len({*members}) > 1 else members[0] for form, members in by_form.items())


def used_indexes(plans: Iterable[str]) -> list[str]:
    names = (name for plan in plans for names in _INDEXES.findall(plan) for name in names.split(","))
    return list(dict.fromkeys(names))
