"""What is measured: for how long, by how many clients, and with which part of the memory."""

from __future__ import annotations

from stepgrid.lint.rule import Rule
from stepgrid.lint.step_rules import Verdict, each_step
from stepgrid.lint.step_values import Facts
from stepgrid.model.number_format import size

SHORTEST = 60.0
_COUNTS = ("step.threads", "step.clients", "step.requesters")


def _short(facts: Facts) -> Verdict | None:
    seconds = facts.amount("step.duration", 0)
    if not facts["measured"] or not 0 < seconds < SHORTEST:
        return None
    message = f"step `{facts['step']}` is measured for {seconds:g} s: an engine is not in a steady state by then"
    hint = "published figures take 300 s to 1800 s; for a try: `allow: {step-short: …}`"
    return Verdict("step.duration", message, hint)


def _more_than_cores(facts: Facts) -> Verdict | None:
    cores = facts.amount("hardware.cores", 0)
    run = facts.amount("hardware.threads", cores * (2 if facts.is_on("hardware.smt") else 1))
    for name in _COUNTS:
        clients = facts.amount(name, 0)
        if facts["measured"] and clients > run > 0:
            message = f"step `{facts['step']}` has {clients:,.0f} clients, the machine runs {run:,.0f} threads at once"
            return Verdict(name, message, "beyond that, waiting for a processor is measured as well")
    return None


def cache_over_memory(*names: str) -> Rule:
    """`names`: the options of an engine that say how much memory it takes for its data."""

    def too_large(facts: Facts) -> Verdict | None:
        memory = facts.amount("hardware.memory", 0)
        for name in names:
            cache = facts.amount(name, 0)
            if cache > memory > 0:
                message = f"`{name}` is {size(cache)}, the machine has {size(memory)}"
                return Verdict(name, message, "published setups give 0.6 to 0.8 of the memory to the cache")
        return None

    check = each_step(names, too_large, ("hardware.memory",))
    return Rule("cache-over-memory", "a cache larger than the memory", check)


RULES = (
    Rule("clients-over-cores", "more clients than the machine runs threads",
         each_step(("step", "measured", *_COUNTS, "hardware.smt", "hardware.threads"), _more_than_cores,
                   ("hardware.cores",))),
    Rule("step-short", "a measured step too short for a steady state",
         each_step(("step", "measured"), _short, ("step.duration",))),
)  # fmt: skip
