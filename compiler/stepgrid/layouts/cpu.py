"""CPU of an operation, of the server and of its client apart: a step's client is no part of what is compared."""

from __future__ import annotations

from stepgrid.layouts import groups
from stepgrid.layouts.shared import legend
from stepgrid.model import number_format
from stepgrid.model.table import Cell, Table, columns
from stepgrid.plugins.layout import ARMS, RANGE, STEP, Block, Layout, Spot, cell

SERVER, CLIENT = "server_cpu_us_per_op", "client_cpu_us_per_op"
ROOM = 60  # for the names of arms
LEGEND = "µs of CPU per operation: of the server + of the client"


def tables(block: Block) -> list[Table]:
    heads, names = legend.legend(block.heads("CPU"), ROOM)
    rows = [
        (*map(_both, block.line(index)), Cell(short))
        for found in groups.grouped(block).values()
        for index, short in found
    ]
    notes = (*block.notes, LEGEND)
    return [block.table(columns(heads, [STEP]), rows, before=names, notes=notes)] if rows else []


def _both(spot: Spot) -> Cell:
    server, client = spot.values.get(SERVER), spot.values.get(CLIENT)
    if server is None or client is None:
        return cell(spot, None)
    return cell(spot, f"{number_format.figure(server)} + {number_format.figure(client)}", server + client)


LAYOUT = Layout("CPU per operation", tables, (STEP, RANGE), (ARMS,), (), (SERVER, CLIENT))
