"""A checkout in which everything is measured, as the store sees it: results without figures, a made-up summary."""

import os
import time
from pathlib import Path

from stepgrid.host.files import write_json
from stepgrid.store.plans import Request
from stepgrid.store.store import Store, SummaryFiles
from stepgrid.workflow import run_request

LIBRARY = "define: {options: {small: {options: {cache_size: 1MiB}}}}\n"
SPEC = """\
title: a grid
include: [library.yaml]
builds:
  installed: {engine: rocksdb, version: 7.8.3, source: {system: the-engine}}
  patched: {engine: rocksdb, version: 9.10.0, source: {path: tree}, patches: [a.patch]}
options: [small]
params: {keys: 1M, duration: 30m}
steps: [{name: fill, kind: db_bench, benchmarks: [fillseq]}, {checkpoint: loaded},
        {name: read, kind: db_bench, benchmarks: [readwhilewriting]}]
sweep: {bits: {option: bloom_bits, values: [5, 10], from: loaded}}
scales: {more: {params: {keys: 2M}}}
"""


def make(folder):
    """In the current folder; the program is one that the search path finds in `folder`."""
    Path("spec.yaml").write_text(SPEC)
    Path("library.yaml").write_text(LIBRARY)
    Path("a.patch").write_text("a patch")
    Path("tree").mkdir()
    Path("tree/Makefile").write_text("all:\n")
    program = folder / "the-engine"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    store = Store()
    return store, measure(store)


def measure(store, spec="spec.yaml"):
    run_request.requested_plan.cache_clear()
    plan = run_request.remaining_work(run_request.requested_plan(Request(spec)), store).plan
    for build in plan.builds:
        if not store.has_build(build.id):
            make_build(store, build.id)
    for stage in plan.stages:
        if store.result(stage.id) is None:
            result(store, stage)
    summarize(store, plan)
    return plan


def make_build(store, build):
    attempt = store.new_attempt(build)
    write_json(attempt / "build.json", {"id": build})
    store.publish_build(build, attempt)


def result(store, stage):
    attempt = store.new_attempt(stage.id)
    for index, step in enumerate(stage.steps):
        (attempt / "steps" / f"{index}-{step.name}").mkdir(parents=True)
    write_json(attempt / "result.json", {"stage": stage.id, "status": "done", "steps": [{} for _ in stage.steps]})
    return store.publish_result(stage.id, attempt)


def summarize(store, plan):
    """And a look that finds all sound, later than every change so far."""
    products = SummaryFiles.of(store, plan.digest)
    products.tables.parent.mkdir(parents=True, exist_ok=True)
    for path in (products.tables, products.text, products.page, *products.stamps):
        path.write_text("the summary")
    time.sleep(0.02)  # file systems keep time in ticks
    for path in (products.tables, products.text, products.page, *products.stamps):
        os.utime(path)
    time.sleep(0.02)
