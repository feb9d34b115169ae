"""Clients and what runs beside them."""

from __future__ import annotations

from stepgrid.drivers.db_bench.lints.workloads import writes_behind
from stepgrid.lint.rule import Rule
from stepgrid.lint.step_rules import Verdict, each_step
from stepgrid.lint.step_values import Facts

_COUNTS = ("step.threads", "step.clients", "step.requesters")


def _more_than_cores(facts: Facts) -> Verdict | None:
    cores = facts.amount("hardware.cores", 0)
    run = facts.amount("hardware.threads", cores * (2 if facts.is_on("hardware.smt") else 1))
    for name in _COUNTS:
        clients = facts.amount(name, 0)
        if facts["measured"] and clients > run > 0:
            message = f"step `{facts['step']}` has {clients:,.0f} clients, the machine runs {run:,.0f} threads at once"
            return Verdict(name, message, "beyond that, waiting for a processor is measured as well")
    return None


def _writer(facts: Facts) -> Verdict | None:
    if not facts["measured"] or not writes_behind(facts["benchmark"]) or facts.given("step.write_rate"):
        return None
    message = (
        f"step `{facts['step']}` has a background writer without a rate: how fast it happens to be decides the reads"
    )
    return Verdict("step", message, "`write_rate: 2MiB`, as in the published setups")


def _seeks(facts: Facts) -> Verdict | None:
    named = any(word in str(facts["step"]).lower() for word in ("range", "scan"))
    if not named or not str(facts["benchmark"]).startswith("seekrandom") or facts.amount("seek_nexts", 0) > 0:
        return None
    message = f"step `{facts['step']}` seeks and reads nothing after it: seek_nexts is 0"
    return Verdict("step", message, "`options: {seek_nexts: 10}`")


RULES = (
    Rule("clients-over-cores", "more clients than the machine runs threads",
         each_step(("step", "measured", *_COUNTS, "hardware.smt", "hardware.threads"), _more_than_cores,
                   ("hardware.cores",))),
    Rule("writer-unlimited", "a background writer without a rate",
         each_step(("step", "measured", "step.write_rate"), _writer, ("benchmark",))),
    Rule("range-without-nexts", "a range step that only seeks",
         each_step(("step", "seek_nexts"), _seeks, ("benchmark",))),
)  # fmt: skip
