"""Steps of tpcc run by themselves against a server."""

from stepgrid_databases.drivers.tpcc import DRIVER
from tests.integration import client_steps

SMALL = {"warehouses": 2, "items": 200, "customers": 60}
_CLIENT = client_steps.Client(DRIVER)
start, run = _CLIENT.start, _CLIENT.run


def checked(bench):
    """What the check says of the tables."""
    (found,) = _CLIENT.checked(bench)
    return found
