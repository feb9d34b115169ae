"""A report for other programs: one module for each form, a function from the report to its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stepgrid.summarize.interchange import (
    bencher,
    github_action_benchmark,
    github_annotations,
    junit,
    otava,
    report_document,
)
from stepgrid.summarize.report import Report

INTERCHANGE: Mapping[str, Callable[[Report], str]] = {
    "json": report_document.text,
    "junit": junit.text,
    "github": github_annotations.text,
    "bencher": bencher.text,
    "github-action-benchmark": github_action_benchmark.text,
    "otava": otava.text,
}
