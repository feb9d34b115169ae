"""Runs of two checkouts on one host: who waits says for whom, for how long, and how many are ahead."""

import re

from stepgrid.host.locks import HOST_LOCK_OVERRIDE, HeldLock
from tests.integration.conftest import Lab
from tests.waiting import LONG, until

SPEC = """\
title: one script
builds: {sh: {engine: program, version: "1", source: {system: sh}}}
steps:
  - {name: first, kind: command, argv: [sh, -c, "while [ ! -e GO ]; do sleep 0.1; done; echo QPS 7"], duration: 90s,
     metrics: {qps: {pattern: 'QPS (\\d+)'}}}
"""


def test_a_run_that_waits_for_the_host_says_who_has_it_how_long_it_needs_and_who_is_ahead(tmp_path):
    lock, go = tmp_path / "lock", tmp_path / "go"
    labs, runs = [Lab(tmp_path / name) for name in ("one", "two", "three")], []
    for position, lab in enumerate(labs):
        lab.folder.mkdir()
        lab.write(SPEC.replace("GO", str(go)))
        runs.append(lab.start(lab.argv("run", "spec.yaml"), **{HOST_LOCK_OVERRIDE: str(lock)}))
        until(lambda count=position: len(HeldLock().of(lock)) + len(HeldLock().waiting_for(lock)) == count + 1)
        until(lambda lab=lab, word="first" if not position else "waits for the host": word in lab.screen)
    (holder,) = HeldLock().of(lock)
    who = rf"process {holder}, which measures s-\w+ in {labs[0].folder}, for \d+s of about 1m3\ds"
    rest = r"all of its run: about 1m\d\ds more"
    words = "status", "spec.yaml"
    second, third = (lab.execute(lab.argv(*words), **{HOST_LOCK_OVERRIDE: str(lock)}).stdout for lab in labs[1:])
    refused = labs[2].run("--no-wait", **{HOST_LOCK_OVERRIDE: str(lock)})
    go.touch()
    assert [run.wait(LONG) for run in runs] == [0, 0, 0]
    assert re.search(rf"^build sh waits for the host: {who}; {rest}$", labs[1].screen, re.MULTILINE), labs[1].screen
    assert re.search(rf"^build sh waits for the host: {who}; {rest}; 1 waits ahead$", labs[2].screen, re.MULTILINE)
    assert re.search(r"^  ETA      waiting for the host(, \d+s so far)?, about 1m\d\ds more", second, re.MULTILINE)
    assert re.search(rf"for the host: {who}; {rest} pid ", " ".join(second.split())), second
    assert re.search(rf"for the host: {who}; {rest}; 1 waits ahead pid ", " ".join(third.split())), third
    assert (refused.returncode, "nothing was started" in refused.stderr) == (5, True)
