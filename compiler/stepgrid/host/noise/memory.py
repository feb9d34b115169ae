"""Memory, load and RAID of this host before a step: what is taken already."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stepgrid.host import sysfs
from stepgrid.host.host_check import OK, WARNING, Finding, unknown
from stepgrid.model.number_format import percent, size

ENOUGH = 0.5  # of the memory: below that, others hold what a page cache would
TINY = 0.01  # of the memory in swap: what was never used again
DAMON = "sys/kernel/mm/damon/admin/kdamonds"
DAMON_RECLAIM = "sys/module/damon_reclaim/parameters/enabled"
PAGES_OUT = "pageout"  # an action of DAMON


def findings(devices: Sequence[str]) -> Iterator[Finding]:
    total = sysfs.memory("MemTotal") or 0
    yield _free(total, sysfs.memory("MemAvailable"))
    yield _swap(total, sysfs.memory("SwapTotal"), sysfs.memory("SwapFree"))
    yield _reclaim()
    yield _load()
    yield from (_raid(name) for name in devices if name.startswith("md"))


def _free(total: int, available: int | None) -> Finding:
    expected = f"at least {percent(ENOUGH)} of it"
    if not total or available is None:
        return unknown("memory", expected=expected)
    little = available < ENOUGH * total
    said = f"{size(available)} of {size(total)} free"
    mend = "end what holds it: ps aux --sort=-rss | head" if little else ""
    return Finding("memory", WARNING if little else OK, said, available, expected, mend)


def _swap(total: int, all_of_it: int | None, free: int | None) -> Finding:
    if all_of_it is None or free is None or not total:
        return unknown("swap", expected="none in use")
    used = all_of_it - free
    much = used > TINY * total
    said = f"{size(used)} of {size(all_of_it)} in use" if all_of_it else "there is none"
    return Finding("swap", WARNING if much else OK, said, used, "none in use", "sudo swapoff -a" if much else "")


def _reclaim() -> Finding:
    """Else what a restored database has in the page cache depends on how long ago somebody read it."""
    expected = "only when memory is short"
    if not sysfs.names("sys/kernel/mm"):
        return unknown("reclaim", expected=expected)
    actions = list(_damon_actions())
    if not actions:
        return Finding("reclaim", OK, expected, [], expected)
    said = "DAMON takes what nobody reads out of memory"
    if PAGES_OUT not in actions:
        said = "DAMON is at work; root may read whether it takes what nobody reads out of memory"
    mend = f"`start: warm` in the spec, or echo off | sudo tee /{DAMON}/*/state"
    return Finding("reclaim", WARNING, said, actions, expected, mend)


def _damon_actions() -> Iterator[str]:
    """Of those at work that take pages out of memory, or may: only root may read what they do."""
    if sysfs.text(DAMON_RECLAIM) == "Y":
        yield PAGES_OUT
    for each in filter(str.isdecimal, sysfs.names(DAMON)):
        if sysfs.text(f"{DAMON}/{each}/state") != "off":
            found = (sysfs.text(path) for path in sysfs.matching(f"{DAMON}/{each}/contexts/*/schemes/*/action"))
            yield from (action or "unknown" for action in found if action in (None, PAGES_OUT))


def _load() -> Finding:
    """Not judged: it still holds what ended minutes ago, such as the stage before."""
    words = (sysfs.text("proc/loadavg") or "").split()
    if len(words) < 3:
        return unknown("load")
    return Finding("load", OK, f"{', '.join(words[:3])} over 1, 5 and 15 minutes", [float(word) for word in words[:3]])


def _raid(name: str) -> Finding:
    action = sysfs.text(f"sys/class/block/{name}/md/sync_action")
    if action is None:
        return unknown(f"raid {name}", expected="idle")
    noisy = action != "idle"
    mend = f"echo idle | sudo tee /sys/block/{name}/md/sync_action" if action == "check" else "wait for its end"
    return Finding(
        f"raid {name}", WARNING if noisy else OK, action, action, "idle", mend if noisy else "", travels=noisy
    )
