import json
from pathlib import Path

import pytest

from stepgrid.cli import main, new
from stepgrid.plugins import registry
from stepgrid.plugins.registry import ENGINES

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("engine", new.engines())
@pytest.mark.parametrize("scale", [[], ["--scale", "smoke"]])
def test_a_new_spec_is_fine_as_it_is(engine: str, scale: list[str], capsys: Capture) -> None:
    assert main(["new", engine]) == 0
    assert capsys.readouterr().out == f"wrote specs/{engine}.yaml; next: stepgrid plan specs/{engine}.yaml\n"
    assert main(["check", f"specs/{engine}.yaml", *scale]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"specs/{engine}.yaml: fine; ")
    assert said.err == ""


def test_every_engine_but_the_client_is_offered() -> None:
    assert set(new.engines()) == set(ENGINES.names()) - {"sysbench"}


@pytest.mark.parametrize("engine", new.engines())
def test_what_cannot_be_run_is_said_in_the_spec(engine: str, capsys: Capture) -> None:
    assert main(["new", engine]) == 0
    text = Path(f"specs/{engine}.yaml").read_text(encoding="utf-8")
    planned = "kind: sysbench" in text and registry.runner("sysbench") is None
    assert ("it does not run sysbench yet" in " ".join(text.replace("#", "").split())) is planned
    assert registry.is_runnable(engine)


@pytest.mark.parametrize("engine", new.engines())
def test_a_new_spec_is_small_and_planned(engine: str, capsys: Capture) -> None:
    assert main(["new", engine]) == 0
    text = Path(f"specs/{engine}.yaml").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 80
    capsys.readouterr()
    assert main(["plan", f"specs/{engine}.yaml", "--format", "json"]) == 0
    said = capsys.readouterr()
    totals = json.loads(said.out)["totals"]
    builds = 2 + ("engine: sysbench" in text)
    assert (totals["builds"], totals["saved_seconds"] > 0, said.err) == (builds, True, "")


def test_without_a_name_it_says_what_there_is(folder: Path, capsys: Capture) -> None:
    assert main(["new"]) == 0
    said = capsys.readouterr()
    assert said.out.splitlines() == [
        "mariadb   MariaDB: InnoDB and MyRocks, two releases",
        "mysql     MySQL: a buffer pool that holds the data, and one that does not",
        "postgres  PostgreSQL: shared buffers that hold the data, and some that do not",
        "program   SQLite: a page cache that holds the table, and one that does not",
        "rocksdb   two releases of RocksDB, each with a small and a large block cache",
        "",
        "next: stepgrid new rocksdb my.yaml",
    ]
    assert (said.err, list(folder.iterdir())) == ("", [])


def test_it_overwrites_nothing(folder: Path, capsys: Capture) -> None:
    (folder / "mine.yaml").write_text("precious")
    assert main(["new", "rocksdb", "mine.yaml"]) == 2
    assert capsys.readouterr().err == "mine.yaml is there already and was left as it is; name another file\n"
    assert (folder / "mine.yaml").read_text() == "precious"


def test_a_client_is_no_engine_to_start_from(capsys: Capture) -> None:
    assert main(["new", "sysbench"]) == 2
    assert capsys.readouterr().err == (
        "there is no starting spec for `sysbench`: it is a client, which asks a server; name one of mariadb, "
        "mysql, postgres, program, rocksdb\n"
    )


def test_an_unknown_engine(capsys: Capture) -> None:
    assert main(["new", "rocksbd"]) == 2
    assert capsys.readouterr().err == "there is no starting spec for `rocksbd`: did you mean `rocksdb`?\n"


def test_the_schema_is_named_where_it_is(folder: Path) -> None:
    (folder / "specs").mkdir()
    (folder / "specs" / "spec.schema.json").write_text("{}")
    assert main(["new", "rocksdb", "deep/er/a.yaml"]) == 0
    first = (folder / "deep" / "er" / "a.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=../../specs/spec.schema.json"


@pytest.mark.parametrize("spec", ["a.yaml", "deep/a.yaml"])
def test_the_schema_of_the_current_folder_is_named(folder: Path, spec: str) -> None:
    (folder / "spec.schema.json").write_text("{}")
    assert main(["new", "program", spec]) == 0
    first = (folder / spec).read_text().splitlines()[0]
    assert first == f"# yaml-language-server: $schema={'../' * spec.count('/')}spec.schema.json"
