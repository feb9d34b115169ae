"""A checkout with results of every stage, and an empty one beside it, for tests of what goes from one to the other."""

import io
import json
import tarfile
from pathlib import Path

from stepgrid.cli import main
from stepgrid.host.files import make_folder, write_json
from stepgrid.model.records import plain
from stepgrid.store import results
from stepgrid.store.store import Store
from stepgrid.workflow import host_plan, run_request
from stepgrid_share import commands as transfer
from tests.cli.samples import SPEC

SUMMARIZED = transfer.update_report


def measured(tmp_path, monkeypatch):
    """The checkout that everything was measured in; `two`, the other one, is empty."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text(SPEC)
    monkeypatch.chdir(tmp_path / "one")
    monkeypatch.setattr(transfer, "update_report", lambda *_: None)  # takes seconds
    run_request.requested_plan.cache_clear()
    plan = host_plan.compile_for_host("a.yaml", None)
    for stage in plan.stages:
        result(stage)
    for build in plan.builds:
        make_folder(Store().build(build.id) / "bin")
        write_json(Store().build(build.id) / "build.json", {"id": build.id, "name": build.name})
        (Store().build(build.id) / "bin" / "db_bench").write_text("a program")
    return tmp_path / "one"


def other(one, monkeypatch):
    def enter():
        monkeypatch.chdir(one.parent / "two")
        return Store()

    return enter


def result(stage):
    attempt = Store().new_attempt(stage.id)
    for index, step in enumerate(stage.steps):
        folder = attempt / "steps" / f"{index}-{step.name}"
        folder.mkdir(parents=True)
        (folder / "stdout").write_text(f"output of {step.name}")
    write_json(attempt / "attempt.json", {"host": {"hostname": "bench-7"}})
    (attempt / "figures.1.msgpack").write_bytes(b"")
    write_json(attempt / "result.json", {"stage": stage.id, "status": "done", "steps": [{} for _ in stage.steps]})
    return Store().publish_result(stage.id, attempt)


def sealed(plan):
    """As results are published: with the checksums of their files."""
    for stage in plan.stages:
        (folder,) = Store().results(stage.id)
        for cache in folder.glob("figures.*"):
            cache.unlink()
        record = json.loads((folder / "result.json").read_text())
        write_json(folder / "result.json", {**record, "files": plain(results.result_checksums(folder))})


def planned():
    return host_plan.compile_for_host("a.yaml", None)


def export(capsys, *more, name="x.tar.gz"):
    file = Path.cwd().parent / name
    assert main(["export", "a.yaml", str(file), *more]) == 0, capsys.readouterr().err
    return file


def rewrite(file, change):
    """The same archive, with other members."""
    with tarfile.open(file) as tar:
        members = {
            info.name: (info, found.read() if (found := tar.extractfile(info)) and info.isreg() else b"")
            for info in tar
        }
    change(members)
    changed = file.with_name("changed.tar.gz")
    with tarfile.open(changed, "w:gz") as tar:
        for name, (info, content) in members.items():
            info.name, info.size = name, len(content)
            tar.addfile(info, io.BytesIO(content))
    return changed
