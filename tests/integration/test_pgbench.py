"""pgbench on two majors of PostgreSQL, by the shipped spec, and SQL of one's own, by the page that shows it."""

import json
import os
import re
import subprocess

import pytest

from tests.docs.pages import DOCS, write_files
from tests.integration.conftest import ROOT, Lab
from tests.integration.test_examples import python
from tests.needs import needs

pytestmark = needs("apt", "maven")
QUIET = {"STEPGRID_LOOK": "0"}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    return Lab(tmp_path_factory.mktemp("pgbench"))


def included():
    return [ROOT / "specs" / "library" / f"{name}.yaml" for name in ("postgres", "pgbench")]


BAD = f"""\
title: SQL that fails
include: [{", ".join(map(str, included()))}]
builds: {{postgres: {{extends: postgres.zonky, version: 18.6}}}}
steps: [{{name: bad, kind: pgbench, scripts: {{bad: {{sql: SELECT * FROM nowhere}}}}, duration: 1s}}]
repeat: 1
"""


def test_sql_that_fails_says_why(lab):
    lab.write(BAD)
    done = lab.run(timeout=240, **QUIET)
    assert done.returncode == 3
    failures = lab.folder.glob("outputs/attempts/*/*/failure.json")
    assert {json.loads(path.read_text())["message"] for path in failures} == {
        'pgbench failed: client 0 script 0 aborted in command 0 query 0: ERROR:  relation "nowhere" does not exist'
    }


def test_the_plugin_of_the_page_conforms_from_nothing(lab, tmp_path):
    """Each file that the page shows, in an empty folder, installed into an environment of its own."""
    write_files(DOCS / "guides/plugins.md", tmp_path / "stepgrid-tps")
    page = (DOCS / "guides/plugins.md").read_text(encoding="utf-8")
    interpreter = python(tmp_path / "venv", tmp_path / "stepgrid-tps")
    (words,) = re.findall(r"^python (-m stepgrid_conformance --driver tps .*)$", page, re.MULTILINE)
    words = f"{words} -q -p no:cacheprovider --folder {lab.folder}".split()  # where the builds are
    folder, env = tmp_path / "stepgrid-tps", {**os.environ, **QUIET}
    done = subprocess.run([interpreter, *words], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^18 passed in ", done.stdout, re.MULTILINE), done.stdout
