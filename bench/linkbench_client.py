"""What LinkBench's client costs: CPU per request beside one in Python and the bare driver, by operation.

`bench/client.py --linkbench`. The bare driver sends the statements of one node and one link, over and over.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from bench import client_rounds, client_run, mysqlclient_package
from bench.client_arms import Lab
from bench.linkbench_arms import WORKS, cost, load

LIMITS = client_rounds.Limits(3.0)


def measure(builds: Path, folder: Path, asked: Namespace) -> int:
    packages = mysqlclient_package.installed(folder) if asked.server == "mariadb" else None
    with client_run.served(builds, asked.server, folder) as (access, sysbench):
        lab = Lab(access, asked.server, sysbench, folder, packages)
        load(lab, asked.rows)
        found = client_rounds.measure(
            WORKS, lambda arm, work: cost(lab, arm, work, asked.rows, asked.seconds), asked.pairs
        )
    print(f"{asked.pairs} rounds, {asked.rows} nodes, {asked.seconds} s of each operation, server: {asked.server}\n")
    return client_rounds.report(found, LIMITS)
