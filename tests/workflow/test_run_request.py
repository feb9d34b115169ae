"""What a request is, and what is said when it cannot be met."""

import os
from pathlib import Path

import pytest

from stepgrid.language.site import VARIABLE
from stepgrid.store.store import Store
from stepgrid.workflow import run_request
from stepgrid.workflow.host_plan import named
from stepgrid.workflow.run_request import Fault
from tests.store.status.test_integrity import PLAN


def test_a_path_below_the_current_folder_is_relative_to_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert named(str(tmp_path / "specs" / "a.yaml")) == "specs/a.yaml"
    assert named("./specs/a.yaml") == "specs/a.yaml"
    assert named("/elsewhere/a.yaml") == "/elsewhere/a.yaml"
    assert named("../a.yaml") == "../a.yaml"


def test_no_spec_is_a_wrong_call():
    with pytest.raises(Fault, match=r"^which spec\? ") as caught:
        run_request.work_of({})
    assert caught.value.status == 2


def test_a_folder_that_cannot_be_written_is_told_before_anything_starts(tmp_path, monkeypatch):
    store = Store(tmp_path / "outputs")
    (store.root / "results").mkdir(parents=True)
    monkeypatch.setattr(os, "access", lambda path, mode: path != store.root / "results")
    with pytest.raises(Fault) as caught:
        run_request._looked(PLAN, store, False)
    assert caught.value.status == 3
    assert str(caught.value) == (
        f"{store.root} cannot be written: no permission to write ({store.root}/results); "
        "make it writable, or start in another folder"
    )


def test_a_file_in_its_place(tmp_path):
    (tmp_path / "outputs").touch()
    with pytest.raises(Fault) as caught:
        run_request._looked(PLAN, Store(tmp_path / "outputs"), False)
    assert caught.value.status == 3
    assert str(caught.value).startswith(f"{tmp_path}/outputs cannot be written: ")


def test_a_server_that_no_site_file_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "")
    Path("a.yaml").write_text(
        "title: t\nbuilds: {prod: {engine: mysql, version: 8.0.40, source: {server: prod}}}\n"
        "steps: [{name: q, kind: sql, sql: [select 1]}]\n"
    )
    with pytest.raises(Fault) as caught:
        run_request.work_of({"spec": "a.yaml"})
    lacks = "there is no site file that says how the server `prod` is reached: `servers: {prod: …}` in site.yaml"
    assert str(caught.value) == f"a.yaml:2:10: build prod: {lacks}"
