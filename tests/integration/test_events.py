"""Events of real engines beside the seconds of a step: in the table, under the QPS of the page, and of the dips."""

import json
import re
from collections import Counter

from tests.integration.conftest import BUILD

ROCKSDB = f"""\
title: "writers that wait for flushes and for level 0"
builds: {{rocksdb: {BUILD}}}
options:
  - {{write_buffer_size: 256KiB, max_write_buffer_number: 2, level0_file_num_compaction_trigger: 2,
     level0_slowdown_writes_trigger: 4, level0_stop_writes_trigger: 6, max_bytes_for_level_base: 1MiB,
     target_file_size_base: 256KiB, compression_type: none, disable_wal: true}}
steps:
  - {{name: overwrite, kind: db_bench, benchmarks: [fillrandom, waitforcompaction, stats], fresh: true, threads: 1}}
params: {{keys: 100M, duration: 12s}}
allow: {{no-repeats: a test, step-short: a test, load-cut: a test}}
"""
_DELAYS = ("level0_slowdown", "slowdown for pending_compaction_bytes", "memtable_slowdown")
_STOPS = ("level0_numfiles", "stop for pending_compaction_bytes", "memtable_compaction")


def test_flushes_compactions_and_stalls_of_rocksdb(lab):
    lab.write(ROCKSDB)
    done = lab.run()
    assert done.returncode == 0, done.stderr
    (step,) = lab.store.root.glob("results/*/*/steps/0-overwrite")
    events = json.loads((step / "statistics" / "events.json").read_text())["events"]
    counts = Counter(kind for _, _, kind, _ in events)
    stalls = re.findall(r"^Stalls\(count\): (.*)", (step / "stdout").read_text(), re.MULTILINE)[-1]
    for kind, names in (("write slowdown", _DELAYS), ("write stop", _STOPS)):
        assert counts[kind] == sum(int(re.findall(rf"(\d+) {name}[, ]", stalls)[0]) for name in names)
    assert counts["flush"] > 5
    assert counts["compaction"] > 5
    (page,) = lab.store.root.glob("summary/*/index.html")
    text = page.read_text()
    drawn = text[text.index('<details id="device">') :]
    assert {"compaction", "flush"} <= {*re.findall(r">(\w+)</text>", drawn[: drawn.index("</details>")])}
