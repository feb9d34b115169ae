from pathlib import Path

import pytest

from compiler import engines
from compiler.cli import main, new

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("engine", new._engines())
@pytest.mark.parametrize("scale", [[], ["--scale", "smoke"]])
def test_a_new_spec_is_fine_as_it_is(engine: str, scale: list[str], capsys: Capture) -> None:
    assert main(["new", engine]) == 0
    assert capsys.readouterr().out == f"wrote specs/{engine}.yaml; next: stepgrid plan specs/{engine}.yaml\n"
    assert main(["check", f"specs/{engine}.yaml", *scale]) == 0
    said = capsys.readouterr()
    assert said.out.startswith(f"specs/{engine}.yaml: fine; ")
    assert said.err == ""


def test_only_engines_that_are_there_are_offered() -> None:
    assert "rocksdb" in new._engines()
    assert set(new._engines()) <= set(engines.names())


def test_it_overwrites_nothing(folder: Path, capsys: Capture) -> None:
    (folder / "mine.yaml").write_text("precious")
    assert main(["new", "rocksdb", "mine.yaml"]) == 2
    assert capsys.readouterr().err == "mine.yaml is there already and was left as it is; name another file\n"
    assert (folder / "mine.yaml").read_text() == "precious"


def test_an_unknown_engine(capsys: Capture) -> None:
    assert main(["new", "rocksbd"]) == 2
    assert capsys.readouterr().err == "there is no starting spec for `rocksbd`: did you mean `rocksdb`?\n"


def test_the_schema_is_named_where_it_is(folder: Path) -> None:
    (folder / "specs").mkdir()
    (folder / "specs" / "spec.schema.json").write_text("{}")
    assert main(["new", "rocksdb", "deep/er/a.yaml"]) == 0
    first = (folder / "deep" / "er" / "a.yaml").read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=../../specs/spec.schema.json"
