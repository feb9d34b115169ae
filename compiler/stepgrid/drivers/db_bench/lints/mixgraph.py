"""mixgraph: the workload of the paper on social graphs, easy to run as something else."""

from __future__ import annotations

import math

from stepgrid.lint.rule import Rule
from stepgrid.lint.step_rules import Verdict, each_step
from stepgrid.lint.step_values import Facts

_NAME = "mixgraph"
_INTERVAL = "sine_mix_rate_interval_milliseconds"
_SINE = ("sine_a", "sine_b", "sine_d")
_RANGE = ("keyrange_dist_a", "keyrange_dist_b", "keyrange_dist_c", "keyrange_dist_d")
_KEYS = ("key_dist_a", "key_dist_b")
_SCAN = ("iter_k", "iter_sigma")
_PAPER = "the paper's: iter_k: 2.517, iter_sigma: 14.236"
_SCAN_DEFAULTS = (7, 1)  # from here on db_bench's own iter_k and iter_sigma are those of the paper
_SWITCH = (6, 26)  # before, the sine is on whatever sine_mix_rate says
_KEYS_FIRST = (6, 11)  # from here on a distribution over ranges does nothing without the one of keys


def _threads(facts: Facts) -> Verdict | None:
    threads = facts.amount("step.threads", 1)
    if facts["benchmark"] != _NAME or threads <= 1:
        return None
    message = (
        f"step `{facts['step']}` runs mixgraph with {threads:,.0f} threads: together they are not the mix asked for"
    )
    return Verdict(
        "step.threads", message, "one thread: each makes the whole distribution by itself (rocksdb issue 9651)"
    )


def _scans(facts: Facts) -> Verdict | None:
    if facts["benchmark"] != _NAME or facts.amount("mix_seek_ratio", 0) <= 0:
        return None
    zero = [name for name in _SCAN if facts.given(name) and facts.amount(name, 1) == 0]
    if zero:
        return Verdict(zero[0], f"mixgraph with {zero[0]}: 0: its scans have a length of zero", _PAPER)
    missing = [name for name in _SCAN if not facts.given(name)]
    if not missing or facts["release"] >= _SCAN_DEFAULTS:
        return None
    message = f"mixgraph without {' and '.join(missing)}: before RocksDB 7.1 its scans then have a length of zero"
    return Verdict("step", message, _PAPER)


def _sine(facts: Facts) -> Verdict | None:
    given = [name for name in _SINE if facts.given(name)]
    if facts["benchmark"] != _NAME or not given or facts.is_on("sine_mix_rate") or facts["release"] < _SWITCH:
        return None
    return Verdict(given[0], f"`{given[0]}` does nothing: sine_mix_rate is off", "add `sine_mix_rate: true`")


def _always(facts: Facts) -> Verdict | None:
    if facts["benchmark"] != _NAME or facts["release"] >= _SWITCH or facts.is_on("sine_mix_rate"):
        return None
    begins = facts.amount(_INTERVAL, 10_000) / 1000
    if begins >= facts.amount("step.duration", math.inf):
        return None
    message = f"before RocksDB 6.26 mixgraph is held to its sine unasked, after {begins:g} s"
    return Verdict("step", message, f"`sine_a: 0`, `sine_d: 0` and `{_INTERVAL}: 1000000000`: it never looks")


def _key_ranges(facts: Facts) -> Verdict | None:
    given = [name for name in _RANGE if facts.given(name)]
    if facts["benchmark"] != _NAME or not given:
        return None
    if facts.amount("keyrange_num", 1) <= 1:
        message = f"`{given[0]}` spreads the keys over one range: keyrange_num is 1"
        return Verdict(given[0], message, "the paper has `keyrange_num: 30`")
    missing = [name for name in _KEYS if not facts.amount(name, 0)]
    if not missing or facts["release"] < _KEYS_FIRST:
        return None
    message = f"`{given[0]}` does nothing: without {' and '.join(missing)} mixgraph takes keys evenly from all"
    return Verdict(given[0], message, "the paper's: key_dist_a: 0.002312, key_dist_b: 0.3467")


RULES = (
    Rule("mixgraph-threads", "mixgraph with more than one thread",
         each_step(("step", "step.threads"), _threads, ("benchmark",))),
    Rule("mixgraph-scan-length", "mixgraph whose scans have a length of zero",
         each_step(("step", "mix_seek_ratio", *_SCAN), _scans, ("benchmark", "release"))),
    Rule("mixgraph-sine", "a sine rate that is not switched on",
         each_step((*_SINE, "sine_mix_rate"), _sine, ("benchmark", "release"))),
    Rule("mixgraph-sine-unasked", "a sine rate that an old release always has",
         each_step(("step", "step.duration", "sine_mix_rate", _INTERVAL), _always, ("benchmark", "release"))),
    Rule("mixgraph-key-ranges", "a distribution over key ranges with one range",
         each_step((*_RANGE, *_KEYS, "keyrange_num"), _key_ranges, ("benchmark", "release"))),
)  # fmt: skip
