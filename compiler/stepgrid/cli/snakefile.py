"""stepgrid snakefile: the path for `snakemake -s "$(stepgrid snakefile)" --config spec=SPEC`."""

from __future__ import annotations

import argparse

from stepgrid.model.package_data import SNAKEFILE


def arguments(parser: argparse.ArgumentParser) -> None:
    """It has none."""


def run(_: argparse.Namespace) -> int:
    print(SNAKEFILE)
    return 0
