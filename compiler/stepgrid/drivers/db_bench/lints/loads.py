"""Loads: what caps, cuts, slows or multiplies them."""

from __future__ import annotations

from stepgrid.drivers.db_bench.benchmarks import LOADS
from stepgrid.lint.rule import Rule
from stepgrid.lint.step_rules import Verdict, each_step
from stepgrid.lint.step_values import Facts
from stepgrid.model.number_format import size


def _capped(facts: Facts) -> Verdict | None:
    total = facts.amount("step.writes", 0) * facts.amount("step.threads", 1)
    keys = facts.amount("step.keys", 0)
    if facts["benchmark"] not in LOADS or total >= keys:
        return None
    message = f"step `{facts['step']}` loads {total:,.0f} of {keys:,.0f} keys: `writes` caps a load too"
    return Verdict("step.writes", message, f"`{{use: {facts['step']}, writes: null}}`")


def _cut(facts: Facts) -> Verdict | None:
    if facts["benchmark"] not in ("fillrandom", "filluniquerandom") or not facts["step.fresh"]:
        return None
    message = (
        f"step `{facts['step']}` stops after {facts['step.duration']:g} s, however many keys it has loaded by then"
    )
    return Verdict("step.duration", message, f"`{{use: {facts['step']}, duration: null}}`")


def _slowed(facts: Facts) -> Verdict | None:
    if facts["benchmark"] not in LOADS:
        return None
    rate = facts["step.write_rate"]
    message = f"step `{facts['step']}` is held to {size(rate)} a second: a write rate is obeyed by a load too"
    return Verdict("step.write_rate", message, f"`{{use: {facts['step']}, write_rate: null}}`")


def _multiplied(facts: Facts) -> Verdict | None:
    threads = facts.amount("step.threads", 1)
    each = facts.amount("step.writes", facts.amount("step.keys", 0))
    if facts["benchmark"] not in LOADS or threads <= 1 or each * threads <= facts.amount("step.keys", 0):
        return None
    message = f"step `{facts['step']}` writes {each * threads:,.0f} rows: each of {threads:.0f} threads loads all keys"
    return Verdict("step.threads", message, f"`{{use: {facts['step']}, threads: 1}}`")


def _remainder(facts: Facts) -> Verdict | None:
    keys, threads = facts.amount("step.keys", 0), facts.amount("step.threads", 1)
    left = keys - facts.amount("step.writes", 0) * threads
    if not 0 < left < threads:
        return None
    message = f"step `{facts['step']}` writes {left:,.0f} rows too few: {keys:,.0f} keys do not divide by {threads:.0f}"
    return Verdict("step.writes", message, "choose a number of keys that all thread counts divide")


RULES = (
    Rule("load-capped", "a load that `writes` caps",
         each_step(("step", "step.keys", "step.threads"), _capped, ("benchmark", "step.writes"))),
    Rule("load-cut", "a load that ends by the clock",
         each_step(("step", "step.fresh"), _cut, ("benchmark", "step.duration"))),
    Rule("load-slowed", "a load under a write rate", each_step(("step",), _slowed, ("benchmark", "step.write_rate"))),
    Rule("load-multiplied", "a load by several threads, each of which writes all keys",
         each_step(("step", "step.keys", "step.threads", "step.writes"), _multiplied, ("benchmark",))),
    Rule("keys-remainder", "keys that the threads do not divide",
         each_step(("step", "step.keys", "step.threads"), _remainder, ("step.writes",))),
)  # fmt: skip
