"""LinkBench by three clients: what each sends for a getnode, a getlinklist and an addlink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench import client_arms, linkbench_python
from bench.client_arms import Cost, Lab, Lines
from stepgrid_databases.drivers.linkbench import LinkBench

DRIVER = LinkBench()
WORKS = ("getnode", "getlinklist", "addlink")


def load(lab: Lab, ids: int) -> None:
    client_arms.load(lab, DRIVER, {"action": "load", "ids": ids})


def cost(lab: Lab, arm: str, work: str, ids: int, seconds: int) -> Cost:
    asked = {"ids": ids, "seconds": seconds, "work": work}
    return {"ours": _ours, "python": _python, "bare": _bare}[arm](lab, asked)


def _ours(lab: Lab, asked: Mapping[str, Any]) -> Cost:
    given = {"action": "request", "ids": asked["ids"], "duration": asked["seconds"], "mix": {asked["work"]: 100.0}}
    return client_arms.ours(lab, DRIVER, given, _requests)


def _requests(lines: Lines) -> int:
    return sum(line["operations"] for line in lines if line["report"] == "client")


def _python(lab: Lab, asked: Mapping[str, Any]) -> Cost:
    return client_arms.python(
        lab, "linkbench_python.py", {**asked, "statements": linkbench_python.statements(lab.server)}
    )


def _bare(lab: Lab, asked: Mapping[str, Any]) -> Cost:
    """The same statements, of one node and one link."""
    return client_arms.bare(lab, DRIVER, _constant(lab.server, asked["work"]), {"seconds": asked["seconds"]})


def _constant(server: str, work: str) -> Sequence[str]:
    known = linkbench_python.statements(server)
    kind, time = linkbench_python.FIRST_TYPE, 1_577_836_800_000
    return {
        "getnode": [known["node"] % 100],
        "getlinklist": [known["list"] % (100, kind)],
        "addlink": [
            "BEGIN", known["link"] % (100, 200, kind, "abcdefghabcdefghabcdefg", time),
            known["count"] % (100, kind, time), "COMMIT",
        ],
    }[work]  # fmt: skip
