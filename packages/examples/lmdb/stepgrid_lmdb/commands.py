"""A command: `stepgrid lmdb-size KEYS BYTES` says how large `map_size` should be."""

from __future__ import annotations

import argparse

from stepgrid.cli.commands import Command
from stepgrid.model.units import number, size

SIZE = Command("a spec", "lmdb-size", "say how large LMDB's `map_size` should be", "stepgrid_lmdb.commands")


def add_lmdb_size_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("keys", type=number, metavar="KEYS", help="keys of the database: 1M")
    parser.add_argument("bytes", type=number, metavar="BYTES", help="bytes of a value: 100")


def run_lmdb_size(args: argparse.Namespace) -> int:
    print(size(2 * args.keys * args.bytes))
    return 0
