"""What the client of the insert benchmark costs: CPU per row and per query beside one in Python and the bare driver.

`bench/client.py --insert`. The bare driver sends one text of 100 rows, or one query, over and over.
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from bench import client_rounds, client_run, mysqlclient_package
from bench.client_arms import Lab
from bench.insert_arms import Work, cost, load

LIMITS = client_rounds.Limits(4.0)


def measure(builds: Path, folder: Path, asked: Namespace) -> int:
    packages = mysqlclient_package.installed(folder) if asked.server == "mariadb" else None
    works = {
        "query": Work("query", 0, asked.seconds),
        "row": Work("insert", asked.inserts, 0),
    }
    with client_run.served(builds, asked.server, folder) as (access, sysbench):
        lab = Lab(access, asked.server, sysbench, folder, packages)
        load(lab, asked.rows)
        found = client_rounds.measure(works, lambda arm, work: cost(lab, arm, works[work]), asked.pairs)
    print(f"{asked.pairs} rounds, {asked.inserts} rows, {asked.seconds} s of queries, server: {asked.server}\n")
    return client_rounds.report(found, LIMITS)
