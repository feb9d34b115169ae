"""Our own results, exported as a table of loads and judged: the verdicts are those of `report`."""

import csv
from collections import Counter

from stepgrid.summarize.comparisons.comparison import RATIO
from stepgrid.summarize.statistics.verdicts import BUSY, INDICATIVE
from stepgrid_judge.figures import JudgeError, JudgeRequest, judge
from stepgrid_judge.readers import Columns, ForeignFileError, read
from tests.summarize.test_reports import CASES, report_of


def export(path, report, metric):
    """Write a row for each load, as `stepgrid query SPEC 'SELECT * FROM runs'` has them."""
    axes = list(report.data.runs[0].labels)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*(f"axis_{axis}" for axis in axes), "step", "load", metric])
        for run in report.data.runs:
            if metric in run.metrics:
                rows.writerow([*(run.labels[axis] for axis in axes), run.step, run.load, repr(run.metrics[metric])])


def verdicts(report, axis):
    """Map step, other labels and arm to ratio and verdict, where figures alone decide it."""
    comparison = report.comparisons.leading[0]
    runs = report.data.runs
    varying = {
        name for name in runs[0].labels if name not in (axis, "build") and len({r.labels[name] for r in runs}) > 1
    }
    found = {}
    for case in comparison.cases():
        labels = dict(zip(comparison.layout.down, case.row.labels, strict=True))
        point = frozenset((name, label) for name, label in labels.items() if name in varying)
        arm = dict(zip(comparison.layout.across, case.arm, strict=True))
        entry = case.entry
        is_by_figures = not entry.refusal and not entry.floor and entry.verdict not in (BUSY, INDICATIVE)
        if entry.kind == RATIO and entry.ratio and is_by_figures:
            found[case.row.step, point, *arm.values()] = (f"{entry.ratio:.9g}", entry.verdict, entry.perhaps)
    return found


def exported_verdicts(case, path):
    plan, report = report_of(case)
    if not report.comparisons.all or not report.data.runs or len(report.comparisons.leading) != 1 or plan.until:
        return
    comparison, metric = report.comparisons.leading[0], report.comparisons.leading[0].metric
    if len(comparison.layout.across) != 1 or metric.better is None:
        return
    axis = comparison.layout.across[0]
    base = comparison.arms[0][0]
    export(path, report, metric.name)
    request = JudgeRequest(base or "", metric.name, metric.better, (), plan.report.smallest_effect)
    try:
        judged = judge([("", read(path, Columns(arm=axis, metric=metric.name)))], request)
    except (ForeignFileError, JudgeError):
        return
    yield verdicts(report, axis), verdicts(judged.report, "arm")


def test_exported_figures_have_the_verdicts_of_the_report(tmp_path):
    differing, words, reports = [], Counter[str | None](), 0
    for number, case in enumerate(CASES):
        for ours, judged in exported_verdicts(case, tmp_path / f"{number}.csv"):
            reports += 1
            words.update(verdict for _, verdict, _ in ours.values())
            differing += [
                f"{case['case']}: {key}: {verdict}, judged {judged.get(key)}"
                for key, verdict in ours.items()
                if judged.get(key) != verdict
            ]
    assert differing == []
    assert reports > 250
    assert words.keys() >= {"faster", "slower", "better", "worse", "same", "different", "undecided", "one load"}
