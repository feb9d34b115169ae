"""How results are named on the command line, by the commands that set some beside others. Help imports nothing more."""

from __future__ import annotations

import argparse

MEANT = "a spec, a plan (`stepgrid plans`), either with @DATE, or a file that `stepgrid export` wrote"


def selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--where",
        metavar="AXIS=LABEL",
        action="append",
        default=[],
        help="of a side that has this label, only its cells",
    )
