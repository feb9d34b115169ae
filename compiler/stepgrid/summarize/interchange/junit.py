"""JUnit XML: the claims as test cases at each of their points, and the measured steps that have no figures."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from stepgrid.model.status import Status
from stepgrid.summarize.claims import FAILS, UNDECIDED, Case, Claim, case_words
from stepgrid.summarize.notes import MissingFigures
from stepgrid.summarize.report import Report

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0, escaped or not
BROKEN = (Status.FAILED, Status.INTERRUPTED, Status.BLOCKED)


def text(report: Report) -> str:
    root = Element("testsuites", name=report.setup.title)
    claims = [(claim, case) for claim in report.comparisons.claims for case in claim.cases]
    _suite(root, report, "claims", [_claim(report, *each) for each in claims])
    _suite(
        root,
        report,
        "measured steps",
        [case for each in report.notes.coverage.troubles for case in _steps(report, each)],
    )
    indent(root, " ")
    return _ILLEGAL.sub("\ufffd", f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n')


def _suite(root: Element, report: Report, name: str, cases: Sequence[Element]) -> None:
    counts = {kind: sum(case.find(tag) is not None for case in cases) for kind, tag in KINDS.items()}
    attributes = {"name": name, "tests": str(len(cases)), **{kind: str(count) for kind, count in counts.items()}}
    if report.setup.measured:
        attributes["timestamp"] = report.setup.measured[0].isoformat(timespec="seconds").split("+")[0]
    SubElement(root, "testsuite", attributes).extend(cases)


KINDS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def _claim(report: Report, claim: Claim, case: Case) -> Element:
    name = f"{claim.claim} [{case.where}]" if case.where else claim.claim
    found = Element("testcase", classname=report.setup.spec, name=name)
    said = f"{claim.expect}: {case_words(case)}"
    if case.result == FAILS:
        SubElement(found, "failure", message=said, type="claim")
    elif case.result == UNDECIDED:
        SubElement(found, "skipped", message=f"undecided: {said}")
    else:
        SubElement(found, "system-out").text = said
    return found


def _steps(report: Report, each: MissingFigures) -> Iterator[Element]:
    for cell in each.cells:
        found = Element("testcase", classname=report.setup.spec, name=cell)
        if each.status in BROKEN:
            SubElement(found, "error", message=f"{each.status}: {each.reason}", type=each.status)
        else:
            SubElement(found, "skipped", message=f"{each.status}: {each.reason}")
        yield found
