import pytest

from tests.lint.pages import SPEC, problems_of


@pytest.fixture
def lints(tmp_path, monkeypatch):
    """Code -> the messages that a spec gives; an error of the language fails the test."""

    def of(text, scale=None):
        monkeypatch.chdir(tmp_path)
        (tmp_path / SPEC).write_text(text, encoding="utf-8")
        found = {}
        for problem in problems_of(SPEC, scale):
            found.setdefault(problem.code, []).append(problem.message)
        return found

    return of
