"""The demo that needs Python alone: its program measures, and the sweep comes to a verdict."""

import json

from tests.integration.conftest import ROOT, Lab


def test_the_sweep_comes_to_a_verdict(tmp_path):
    (tmp_path / "specs").symlink_to(ROOT / "specs")
    lab = Lab(tmp_path)
    spec = "specs/quickstart-sqlite.yaml"
    small = ["--set", "params.rows=5k", "--set", "params.seconds=0.1", "--set", "repeat=3"]
    small += ["--only", "cache == 'tenth' and synchronous == 'normal'"]
    done = lab.execute(lab.argv("run", spec, *small))
    assert done.returncode == 0, done.stderr
    if ("commits", "faster") not in verdicts(lab, spec, *small):  # the host is busy: once more
        assert lab.execute(lab.argv("redo", spec, *small)).returncode == 0
        assert lab.execute(lab.argv("run", spec, *small)).returncode == 0
        assert ("commits", "faster") in verdicts(lab, spec, *small)


def verdicts(lab, *words):
    report = json.loads(lab.execute(lab.argv("report", *words, "--format", "json")).stdout)
    return {(each["step"], each["verdict"]) for each in report["comparisons"] if each["metric"] == "qps"}
