"""Steps of LinkBench run by themselves against a server."""

from collections.abc import Mapping
from typing import Any

from stepgrid_databases.drivers.linkbench import LinkBench
from tests.integration import client_steps
from tests.integration.sysbench import Bench

_CLIENT = client_steps.Client(LinkBench())
start, run = _CLIENT.start, _CLIENT.run


def checked(bench: Bench) -> Mapping[str, Any]:
    """What the check says of the graph."""
    (found,) = _CLIENT.checked(bench)
    return found
