"""stepgrid export and import: results of one checkout join those of another."""

import json
import os
import re
import tarfile
from pathlib import Path

import pytest

from stepgrid.cli import main
from stepgrid.host import facts
from stepgrid.host.files import write_json
from stepgrid.store import stage_requests
from stepgrid.store.results import full_fault
from stepgrid.store.store import Store
from stepgrid.workflow import run_request
from stepgrid_share import commands as transfer
from tests.cli.bundles import SUMMARIZED, export, planned, result, sealed

pytestmark = pytest.mark.usefixtures("one")


def test_results_join_those_of_another_checkout(two, capsys):
    file = export(capsys)
    assert capsys.readouterr().out.startswith(f"{file}: 6 results of 6 of 6 stages, 22 files, ")
    store, plan = two(), planned()
    mine = result(plan.stages[0])
    assert main(["import", str(file)]) == 0
    assert capsys.readouterr().out == (
        "a.yaml: t\nimported 6 results, 0 attempts\n  with the records of builds that are not here: 2\n"
        "of 1 stage the result that was here goes on to count: it is newer\n"
        "`stepgrid run a.yaml` summarizes them with those of this host\n"
    )
    stage = plan.stages[0].id
    assert len(store.results(stage)) == 2
    assert store.result(stage) == mine  # the newest counts, wherever it is from
    assert store.mark(stage).resolve() == (mine / "result.json").resolve()
    assert all(store.mark(each.id).exists() for each in plan.stages)
    assert (store.results(stage)[0] / "attempt.json").is_file()
    assert not list(store.results(stage)[0].glob("figures.*"))  # parsed again, by the code of this checkout
    work = run_request.remaining_work(plan, store)
    assert work.lacking == frozenset()  # nothing is to be measured, so no build is to be made
    assert not any(store.has_build(build.id) for build in plan.builds)
    assert json.loads((store.build_record(plan.builds[0].id) / "build.json").read_text())["id"] == plan.builds[0].id
    assert store.attempts("import") == []
    assert main(["plan", "a.yaml"]) == 0
    assert re.search("to do    nothing\n  read .*\n  status   8 done", capsys.readouterr().out)


def test_the_report_goes_along_for_those_who_have_nothing_else(monkeypatch, capsys):
    monkeypatch.setattr(transfer, "update_report", SUMMARIZED)
    with tarfile.open(export(capsys)) as tar:
        names = [name.removeprefix("content/report/") for name in tar.getnames() if "/report/" in name]
    assert {"summary.txt", "index.html", "tables/steps.parquet", "tables/environment.parquet"} <= set(names)


def test_what_is_there_already_stays(two, capsys):
    file = export(capsys)
    store = two()
    for _ in range(2):
        capsys.readouterr()
        assert main(["import", str(file)]) == 0
    assert "imported 0 results, 0 attempts\nalready here: 6 results\n" in capsys.readouterr().out
    assert all(len(store.all_results(stage.id)) == 1 for stage in planned().stages)


def test_a_retraction_goes_along_and_a_redo_is_still_asked_for(two, capsys):
    first, second = (stage for stage in planned().stages if stage.parent is None)
    stage_requests.retract(Store(), Store().results(first.id)[0], "a disturbance")
    file = export(capsys)
    store = two()
    result(second)
    stage_requests.request_redo(store, second.id, "why not")
    assert main(["import", str(file)]) == 0
    assert store.result(first.id) is None
    note = stage_requests.read_retraction(store.all_results(first.id)[0])
    assert note.why == "a disturbance"
    assert stage_requests.pending_redo(store, second.id)


def test_what_cannot_be_exported(one, capsys):
    (one / "x.tar.gz").touch()
    for words, status, said in (
        (["x.tar.gz"], 2, "x.tar.gz exists: name another file, or remove it\n"),
        (["no/x.tar.gz"], 2, "there is no folder no to write x.tar.gz to\n"),
        (["x.zip"], 3, "x.zip must end with .tar.gz or .tar.zst: that says how it is compressed\n"),
        (["y.tar.gz", "--set", "params.keys=1M"], 3, "a.yaml has no result yet: there is nothing to export\n"),
    ):
        assert main(["export", "a.yaml", *words]) == status
        assert capsys.readouterr().err == said


def test_a_damaged_result_is_not_exported(two, capsys):
    plan, store = planned(), Store()
    sealed(plan)
    result = store.results(plan.stages[0].id)[0]
    (log,) = result.glob("steps/0-*/stdout")
    log.write_text("")
    file = Path.cwd().parent / "x.tar.gz"
    assert main(["export", "a.yaml", str(file)]) == 0
    out, err = capsys.readouterr()
    (kept,) = store.attempts(plan.stages[0].id)
    assert err == (
        f"{result} is broken: `{log.relative_to(result)}` has 0 bytes, it was published with "
        f"{len('output of ' + plan.stages[0].steps[0].name)}. It is kept in {kept}; the next run measures it again\n"
    )
    assert out.startswith(f"{file}: 5 results of 5 of 6 stages, ")
    two()
    assert main(["import", str(file)]) == 0


def test_what_names_the_host_is_left_out(one, two, monkeypatch, capsys):
    """Its name becomes another one, which is the same each time; checksums are those of what goes along."""
    monkeypatch.setattr(transfer, "update_report", SUMMARIZED)
    plan = planned()
    spoken(plan)
    file = export(capsys)
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  left out: the name of the host bench-7, HOME, PATH, STEPGRID_RUNNING; `--host` exports them",
        "  it has variables of the environment of commands: LD_PRELOAD, TZ",
    ]
    with tarfile.open(file) as tar:
        members = {info.name: found.read() for info in tar if (found := tar.extractfile(info))}
    assert [name for name, content in members.items() if b"bench-7" in content or b"/home/me" in content] == []
    store = two()
    assert main(["import", str(file)]) == 0
    (result,) = store.results(plan.stages[0].id)
    assert full_fault(result, plan.stages[0]) is None
    host = json.loads((result / "attempt.json").read_text())["host"]["hostname"]
    assert host == facts.pseudonym("bench-7") == facts.pseudonym(host) != "bench-7"
    command = json.loads(next(result.glob("steps/*/command.json")).read_text())
    assert command == {"argv": ["x"], "env": {"LD_PRELOAD": "a.so"}, "environment": {"LC_ALL": "C", "TZ": "UTC"}}


def test_the_tables_that_go_along_do_not_name_the_host(one, tmp_path, monkeypatch, capsys):
    import duckdb

    monkeypatch.setattr(transfer, "update_report", SUMMARIZED)
    spoken(planned())
    with tarfile.open(export(capsys)) as tar:
        tar.extract(name := "content/report/tables/environment.parquet", tmp_path)
    table = tmp_path / name
    rows = duckdb.sql(f"SELECT DISTINCT name, value FROM '{table}' WHERE scope IN ('host', 'command')").fetchall()
    assert dict(rows) == {
        "argv": '["x"]',
        "dropped": "[]",
        "launch": "{}",
        "env": '{"LD_PRELOAD": "a.so"}',
        "environment": '{"LC_ALL": "C", "TZ": "UTC"}',
        "hostname": facts.pseudonym("bench-7"),
    }


def spoken(plan):
    """Each command says its environment."""
    mine = {"PATH": "/home/me/bin", "HOME": "/home/me", "TZ": "UTC", "LC_ALL": "C", "STEPGRID_RUNNING": "/home/me/out"}
    said = {"argv": ["x"], "env": {"LD_PRELOAD": "a.so"}, "environment": mine}
    for stage in plan.stages:
        for step in Store().results(stage.id)[0].glob("steps/*"):
            write_json(step / "command.json", said)
    sealed(plan)


def test_the_host_goes_along_where_it_is_asked_for(one, two, capsys):
    plan = planned()
    spoken(plan)
    file = export(capsys, "--host")
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  it names the host bench-7",
        "  it has variables of the environment of commands: HOME, LD_PRELOAD, PATH, STEPGRID_RUNNING, TZ",
    ]
    store = two()
    assert main(["import", str(file)]) == 0
    (result,) = store.results(plan.stages[0].id)
    assert json.loads((result / "attempt.json").read_text())["host"]["hostname"] == "bench-7"


def test_what_a_step_left_that_is_no_file_is_left_out(one, two, capsys):
    """Of a version that let it; the others of its files are exported."""
    stage = planned().stages[0]
    (folder,) = Store().results(stage.id)
    step = next((folder / "steps").iterdir())
    (step / "secret").symlink_to("/etc/hostname")
    os.mkfifo(step / "pipe")
    (step / "latest").symlink_to("stdout")
    record = {"argv": 3, "env": [1], "environment": {"HOME": {}}}
    (step / "command.json").write_text(json.dumps(record))
    file = export(capsys)
    name = f"results/{stage.id}/{folder.name}/steps/{step.name}"
    assert (
        f"  left out: {name}/pipe and 1 more (neither a file nor a link to one beside it)\n" in capsys.readouterr().out
    )
    store = two()
    assert main(["import", str(file)]) == 0
    (taken,) = store.results(stage.id)
    assert sorted(path.name for path in (taken / "steps" / step.name).iterdir()) == ["command.json", "latest", "stdout"]
