"""How long is measured."""

from __future__ import annotations

from stepgrid.lint.rule import Rule
from stepgrid.lint.step_rules import Verdict, each_step
from stepgrid.lint.step_values import Facts

SHORTEST = 60.0


def _short(facts: Facts) -> Verdict | None:
    seconds = facts.amount("step.duration", 0)
    if not facts["measured"] or not 0 < seconds < SHORTEST:
        return None
    message = f"step `{facts['step']}` is measured for {seconds:g} s: an engine is not in a steady state by then"
    return Verdict(
        "step.duration", message, "published figures take 300 s to 1800 s; for a try: `allow: {step-short: …}`"
    )


RULES = (
    Rule("step-short", "a measured step too short for a steady state",
         each_step(("step", "measured"), _short, ("step.duration",))),
)  # fmt: skip
