"""Wrong specs and exactly what is said of them: tests/language/problems."""

import re
from contextlib import suppress

import pytest

from stepgrid.language.problems import Problems, SpecError
from stepgrid.plan.assembly import check_scales
from tests.conftest import HOST
from tests.golden import OPTION
from tests.language import catalogue
from tests.language.catalogue import Catalogue

CATALOGUES = {found.file.stem: found for found in catalogue.catalogues()}
CASES = [(stem, case) for stem, found in CATALOGUES.items() for case in found.cases]


@pytest.mark.parametrize(("stem", "case"), CASES, ids=[f"{stem}: {case.name}" for stem, case in CASES])
def test_what_is_said(stem, case, compile_text, tmp_path, golden, request):
    problems = Problems()
    for name, text in case.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    with suppress(SpecError):
        compile_text(case.text(CATALOGUES[stem].bases), case.scale, problems=problems)
    if case.scale is None:
        check_scales("a.yaml", HOST, problems)
    said = "".join(_text(each) for each in problems.items if each.code not in CATALOGUES[stem].ignored)
    said = said.replace(str(tmp_path), "FOLDER")
    if request.config.getoption(OPTION) and said != case.said:
        _update(stem, case, said)
    else:
        assert said == case.said, "`make golden` writes it anew"


def _text(problem):
    where = "" if problem.where.file == "a.yaml" else f"{problem.where.file}:"
    level = "warning " if problem.severity == "warning" else ""
    hint = f"  {problem.hint}\n" if problem.hint else ""
    return f"{where}{problem.where.line}:{problem.where.column} {level}{problem.code}: {problem.message}\n{hint}"


def _update(stem, case, said):
    CATALOGUES[stem] = CATALOGUES[stem].updated(case.name, said)
    CATALOGUES[stem].write()


def test_a_catalogue_is_written_as_it_is_read(tmp_path):
    for found in CATALOGUES.values():
        text = found.file.read_text(encoding="utf-8")
        copy = Catalogue(tmp_path / "copy.yaml", found.bases, found.ignored, found.cases)
        copy.write()
        assert copy.file.read_text(encoding="utf-8") == text, f"{found.file.name}: `make golden` writes it anew"


def test_no_message_shows_what_python_has():
    texts = "\n".join(case.said for _, case in CASES)
    assert not re.findall(r"object at 0x|NoneType|<class|Where\(|'dict'|__init__", texts)
