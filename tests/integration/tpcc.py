"""Steps of tpcc run by themselves against a server."""

from collections.abc import Mapping
from typing import Any

from stepgrid_databases.drivers.tpcc import DRIVER
from tests.integration import client_steps
from tests.integration.sysbench import Bench

SMALL = {"warehouses": 2, "items": 200, "customers": 60}

_CLIENT = client_steps.Client(DRIVER)  # type: ignore[arg-type]
start, run = _CLIENT.start, _CLIENT.run


def checked(bench: Bench) -> Mapping[str, Any]:
    """What the check says of the tables."""
    (found,) = _CLIENT.checked(bench)
    return found
