"""Steps of the insert benchmark run by themselves against a server."""

from stepgrid_databases.drivers.insert_benchmark import InsertBenchmark
from tests.integration import client_steps

ALL = "count, min, max, checksum"  # what the check of a table of one client looks at
_CLIENT = client_steps.Client(InsertBenchmark())
start, run, checked = _CLIENT.start, _CLIENT.run, _CLIENT.checked
