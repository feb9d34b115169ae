"""Answers of servers as data, and the statistics that are read of them.

The cases of an engine stand in statistics/ENGINE.yaml: rows as MariaDB, MySQL and PostgreSQL gave them, by words of the
statement that asked for them. What a server lacks is not asked; what it does not tell is missing.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from stepgrid.plugins.metrics import METRICS
from stepgrid_databases.engines.mysqld.statistics import looks as mysqld
from stepgrid_databases.engines.postgres.statistics import looks as postgres
from tests.cases import cases
from tests.engines.told import Told
from tests.golden import Golden

STATISTICS = Path(__file__).with_name("statistics")
READERS = {"mysql": mysqld, "postgres": postgres}


def described(engine: str, case: Mapping[str, Any]) -> Iterator[str]:
    for reader in READERS[engine](Told(case["answers"])):
        yield f"  {reader.name}{', after the step alone' if reader.after_only else ''}"
        try:
            found = reader.read()
        except LookupError as error:
            yield f"    missing: {error.args[0]}"
            continue
        assert {*found.sizes, *found.garbage, *found.work} <= METRICS.keys()
        for name, value in found._asdict().items():
            if isinstance(value, Mapping):
                yield from (f"    {name} {key} {number:.10g}" for key, number in value.items())
            elif name == "text":
                yield from (f"    |{line}" for line in value.splitlines())
            else:
                for row in value or ():
                    columns = row if isinstance(row, Mapping) else row._asdict()
                    yield f"    {name} { ({key: cell for key, cell in columns.items() if cell is not None}) }"


@pytest.mark.parametrize("engine", READERS)
def test_statistics(engine: str, golden: Golden) -> None:
    all_cases = cases(STATISTICS / f"{engine}.yaml")
    golden("".join("\n".join((case["case"], *described(engine, case))) + "\n\n" for case in all_cases))
