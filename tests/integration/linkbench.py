"""Steps of LinkBench run by themselves against a server."""

from stepgrid_databases.drivers.linkbench import LinkBench
from tests.integration import client_steps

_CLIENT = client_steps.Client(LinkBench())
start, run = _CLIENT.start, _CLIENT.run


def checked(bench):
    """What the check says of the graph."""
    (found,) = _CLIENT.checked(bench)
    return found
