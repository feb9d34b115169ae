"""CPU of an operation, of the server and of its client apart: a step's client is no part of what is compared."""

from __future__ import annotations

from stepgrid.layouts import groups
from stepgrid.model import number_format
from stepgrid.model.table import Cell, Table
from stepgrid.plugins.layout import ARMS, RANGE, STEP, Block, Layout, LayoutCell, cell

SERVER, CLIENT = "server_cpu_us_per_op", "client_cpu_us_per_op"
LEGEND = "µs of CPU per operation: of the server + of the client"


def tables(block: Block) -> list[Table]:
    return groups.together(block, lambda row: map(_both, block.line(row)), "CPU", LEGEND)


def _both(spot: LayoutCell) -> Cell:
    server, client = spot.values.get(SERVER), spot.values.get(CLIENT)
    if server is None or client is None:
        return cell(spot, None)
    return cell(spot, f"{number_format.figure(server)} + {number_format.figure(client)}", server + client)


LAYOUT = Layout("CPU per operation", tables, (STEP, RANGE), (ARMS,), (), (SERVER, CLIENT))
