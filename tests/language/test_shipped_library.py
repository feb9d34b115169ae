"""`include: library/…` names stepgrid's own library from any folder."""

from pathlib import Path

from stepgrid.language.files import record_inputs
from stepgrid.language.problems import Problems
from stepgrid.language.spec_file import read_spec
from stepgrid.package import SPECS

SPEC = """\
title: t
include: {}
builds: {{b: {{engine: rocksdb, version: 9.10.0}}}}
steps: [{{name: x, kind: quiesce}}]
"""
SHIPPED = str(SPECS / "library" / "vector.yaml")


def _spec(folder: Path, include: str = "library/vector.yaml") -> tuple[list[str], Problems]:
    path, problems = folder / "my.yaml", Problems()
    path.write_text(SPEC.format(include))
    found = read_spec(str(path), None, problems)
    return [each.path for each in found.includes] if found else [], problems


def test_it_is_found_from_any_folder(tmp_path: Path) -> None:
    with record_inputs() as seen:
        assert _spec(tmp_path)[0] == [SHIPPED]
    assert seen.files[SHIPPED] is not None
    near = str(tmp_path / "library/vector.yaml")
    assert seen.files[near] is None, "a plan made so is another one as soon as that file is there"


def test_a_file_beside_the_spec_comes_first(tmp_path: Path) -> None:
    own = tmp_path / "library" / "vector.yaml"
    own.parent.mkdir()
    own.write_text("define: {}\n")
    assert _spec(tmp_path)[0] == [str(own)]


def test_a_name_that_it_lacks(tmp_path: Path) -> None:
    _, problems = _spec(tmp_path, "library/vectors.yaml")
    (error,) = (each for each in problems.errors if each.code == "file-not-found")
    assert error.message == f"there is no file `{SPECS}/library/vectors.yaml`"
    assert error.hint == "did you mean `vector.yaml`?"
    (tmp_path / "library").mkdir()
    _, problems = _spec(tmp_path, "library/vectors.yaml")
    assert f"there is no file `{tmp_path}/library/vectors.yaml`" in {each.message for each in problems.errors}
