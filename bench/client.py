"""What the client costs: CPU per query of our point_query beside sysbench's own oltp_point_select, by turns.

`.venv/bin/python bench/client.py [--pairs 30] [--queries 50000] [--threads 1] [--server mariadb|postgres]`. One server,
one load; both scripts get the same options and the same number of queries, and are told to report alike. The builds are
made first, where they are not in --builds.

With --insert it is the client of the insert benchmark, beside one in Python and the bare driver; with --linkbench
that of LinkBench, with --tpcc that of tpcc (bench/insert_client.py, bench/linkbench_client.py, bench/tpcc_client.py).
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench import client_run, insert_client, linkbench_client, tpcc_client  # noqa: E402  # the checkout's own
from bench.ratios import ratio  # noqa: E402

LIMIT = 1.05
CLIENTS = {"insert": insert_client, "linkbench": linkbench_client, "tpcc": tpcc_client}


class Cost(NamedTuple):
    """Of one run, in microseconds per query."""

    user: float
    system: float

    @property
    def all(self) -> float:
        return self.user + self.system


Pair = tuple[Cost, Cost]  # ours, sysbench's


def main() -> int:
    asked = _asked()
    with tempfile.TemporaryDirectory(prefix="stepgrid-client-") as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)  # the server is nobody's
        builds = Path(asked.builds) if asked.builds else _made(folder, asked.server)
        if asked.client:
            return asked.client.measure(builds, folder, asked)
        with client_run.loaded(builds, asked.server, folder, asked.rows) as place:
            pairs = [_pair(place, asked, index) for index in range(asked.pairs)]
    return _report(pairs, asked)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The client's CPU time per query.")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--queries", type=int, default=50_000, help="of each run")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--server", choices=client_run.BUILDS, default="mariadb")
    parser.add_argument("--builds", help="outputs/builds that has the server and sysbench")
    for name, module in CLIENTS.items():
        parser.add_argument(
            f"--{name}", dest="client", action="store_const", const=module, help=f"the client of {name}"
        )
    parser.add_argument("--inserts", type=int, default=1_000_000, help="rows of each run, with --insert")
    parser.add_argument("--growth", action="store_true", help="with --tpcc: its memory over 10 minutes instead")
    parser.add_argument("--seconds", type=int, default=20, help="of queries of each run, with one of these clients")
    return parser.parse_args()


def _made(folder: Path, server: str) -> Path:
    (folder / "spec.yaml").write_text(client_run.spec(server), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler")}
    argv = [sys.executable, "-m", "stepgrid.cli", "builds", "spec.yaml", "--yes"]
    subprocess.run(argv, cwd=folder, env=env, check=True, stdout=sys.stderr)
    return folder / "outputs" / "builds"


def _pair(place: client_run.Place, asked: argparse.Namespace, index: int) -> Pair:
    """By turns: ours, sysbench's; sysbench's, ours; …"""
    order = (True, False) if index % 2 else (False, True)
    costs = {ours: _cost(place, ours, asked.queries, asked.threads) for ours in order}
    print(f"pair {index + 1}: {costs[True].all:.2f}, {costs[False].all:.2f} us", file=sys.stderr, flush=True)
    return costs[True], costs[False]


def _cost(place: client_run.Place, ours: bool, queries: int, threads: int) -> Cost:
    argv, env, folder = client_run.command(place, ours, queries, threads)
    with (folder / "stdout").open("wb") as out:
        child = subprocess.Popen(argv, cwd=folder, env=env, stdout=out)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    text = (folder / "stdout").read_text(encoding="utf-8")
    done = re.search(r"total number of events: +(\d+)", text)
    assert child.returncode == 0, text
    assert done is not None, text
    return Cost(used.ru_utime * 1e6 / int(done[1]), used.ru_stime * 1e6 / int(done[1]))


def _report(pairs: Sequence[Pair], asked: argparse.Namespace) -> int:
    print(f"{len(pairs)} pairs, {asked.queries} queries, threads: {asked.threads}, server: {asked.server}\n")
    print("CPU per query, us   ours    oltp_point_select  ratio")
    found = {
        part: ratio([[getattr(ours, part) / getattr(own, part)] for ours, own in pairs]) for part in ("all", "user")
    }
    for part, each in found.items():
        ours, own = (median(getattr(pair[arm], part) for pair in pairs) for arm in (0, 1))
        print(f"  {part:16}  {ours:6.2f}  {own:17.2f}  {each}")
    high = found["all"].high
    fine = high is not None and high < LIMIT
    print(f"\nthe interval of the ratio is {'' if fine else 'not '}below {LIMIT}")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
