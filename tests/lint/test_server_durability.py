# ruff: noqa: E501
"""The lint mixed-durability of servers: by their options, and by the defaults of each release."""

from pathlib import Path

import pytest

from tests.lint.pages import SPEC, problems_of

TEXT = """\
title: t
define: {builds: {sysbench: {engine: sysbench, version: 1.0.20, source: {system: sysbench}}}}
builds:
  a: {engine: %s, source: {system: server-a}}
  b: {engine: %s, source: {system: server-b}}
options: [{engine: mysql, options: {%s}}]
steps: [{name: w, kind: sysbench, lua: write_only, duration: 10m, rows: 1M, threads: 1, mutates: true}]
repeat: 3
"""
BEGINNING = "step `w` writes with unequal durability: "
MYSQL = "mysql, version: 5.7.22", "mysql, version: 8.0.31"


def durability(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(SPEC).write_text(text, encoding="utf-8")
    problems = problems_of(SPEC, None)
    assert [problem.code for problem in problems if problem.severity == "error"] == []
    return [p.message.removeprefix(BEGINNING) for p in problems if p.code == "mixed-durability"]


@pytest.mark.parametrize(
    ("builds", "options", "expected"),
    [
        (MYSQL, "", ["`binary log none` under a, `binary log sync` under b (in all 2 cells)"]),
        (MYSQL, "sync_binlog: 0", ["`binary log none` under a, `binary log os` under b (in all 2 cells)"]),
        (MYSQL, "skip_log_bin: true", []),
        (MYSQL, "log_bin: bin, server_id: 1", []),
        (("mysql, version: 5.6.49", MYSQL[0]), "log_bin: bin", ["`binary log os` under a, `binary log sync` under b (in all 2 cells)"]),
        (("mariadb, version: 11.8.3", "mariadb, version: 10.5.23"), "", []),
        (("mariadb, version: 11.8.3", MYSQL[1]), "", ["`binary log none` under a, `binary log sync` under b (in all 2 cells)"]),
        (("mariadb, version: 11.8.3", "postgres, version: 17.2"), "", []),
        (("postgres, version: 9.6.24", "postgres, version: 17.2"), "", ["`log detail minimal` under a, `log detail replica` under b (in all 2 cells)"]),
    ],
)  # fmt: skip
def test_releases_and_engines_of_unlike_defaults(builds, options, expected, tmp_path, monkeypatch):
    assert durability(TEXT % (*builds, options), tmp_path, monkeypatch) == expected


@pytest.mark.parametrize(
    ("engine", "option", "values", "expected"),
    [
        (MYSQL[1], "innodb_flush_log_at_trx_commit", "1, 2", "`sync` under arm=1, `os` under arm=2"),
        (MYSQL[1], "innodb_flush_log_at_trx_commit", "0, 2", "`none` under arm=0, `os` under arm=2"),
        (MYSQL[1], "innodb_doublewrite", "'ON', 'OFF'", "`torn pages protected` under arm=ON, `torn pages unprotected` under arm=OFF"),
        (MYSQL[1], "sync_binlog", "1, 100", "`binary log sync` under arm=1, `binary log group` under arm=100"),
        ("postgres, version: 17.2", "synchronous_commit", "'on', 'off'", "`sync` under arm=on, `none` under arm=off"),
        ("postgres, version: 17.2", "fsync", "'on', 'off'", "`sync` under arm=on, `none` under arm=off"),
        ("postgres, version: 17.2", "full_page_writes", "true, false", "`torn pages protected` under arm=true, `torn pages unprotected` under arm=false"),
        ("postgres, version: 17.2", "shared_buffers", "1GB, 2GB", None),
    ],
)  # fmt: skip
def test_arms_of_one_build(engine, option, values, expected, tmp_path, monkeypatch):
    one = "".join(line for line in (TEXT % (engine, engine, "")).splitlines(True) if not line.startswith("  b:"))
    text = f"{one}sweep: {{arm: {{option: {option}, values: [{values}]}}}}\n"
    assert durability(text, tmp_path, monkeypatch) == ([f"{expected} (in all 2 cells)"] if expected else [])
    allowed = f"{text}allow: {{mixed-durability: that is the question}}\n" if expected else text
    assert durability(allowed, tmp_path, monkeypatch) == []
    if expected:
        assert durability(f"{text}report: {{base: {{build: a}}}}\n", tmp_path, monkeypatch) == []
