"""Real results exported as a table of loads and judged: how many verdicts are those of their report.

`python bench/judge_exports.py` in a folder with outputs/: each plan that has tables, against its base, by its
leading metric.
Comparisons that other things than figures decide (the host, builds, the noise floor) are not counted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from stepgrid.collect.query import table_faults
from stepgrid.store import plans
from stepgrid.store.store import Store
from stepgrid.summarize.report_files import read_report
from stepgrid_judge.figures import JudgeError, JudgeRequest, judge
from stepgrid_judge.readers import Columns, ForeignFileError, read
from tests.judge.test_exports import export, verdicts


def main() -> int:
    store, total, same = Store(Path("outputs")), 0, 0
    with TemporaryDirectory() as folder:
        for stored in plans.stored_plans(store):
            try:
                report = read_report(store, stored.digest)
                comparison, metric, table = report.comparisons.leading[0], report.setup.metric, Path(folder, "a.csv")
                (axis,) = comparison.layout.across
                export(table, report, metric.name)
                request = JudgeRequest(
                    report.setup.base.get(axis, ""), metric.name, metric.better or "higher", (), report.setup.effect
                )
                judged = judge([("", read(table, Columns(axis, "step", "load", metric.name)))], request)
            except (*table_faults(), IndexError, ValueError, JudgeError, ForeignFileError) as error:
                print(f"{stored.digest} {stored.spec}: {type(error).__name__}")
                continue
            expected, found = verdicts(report, axis), verdicts(judged.report, "arm")
            alike = sum(found.get(name) == verdict for name, verdict in expected.items())
            total, same = total + len(expected), same + alike
            print(f"{stored.digest} {stored.spec}: {alike} of {len(expected)}", flush=True)
    print(f"{same} of {total} verdicts are those of the report")
    return 0


if __name__ == "__main__":
    sys.exit(main())
