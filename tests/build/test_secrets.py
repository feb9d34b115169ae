import pytest

from stepgrid.build.command_runner import hidden


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("git ls-remote -- https://me:secret@a.example/b.git v1", "git ls-remote -- https://***@a.example/b.git v1"),
        ("https://token@a.example/b", "https://***@a.example/b"),
        ("http://me:p@ss@a.example:8080/", "http://***@a.example:8080/"),
        ("ssh://git@a.example/b.git", "ssh://git@a.example/b.git"),
        ("ssh://git:secret@a.example/b.git", "ssh://git:***@a.example/b.git"),
        ("https://a.example/@scope/b and c@d.example", "https://a.example/@scope/b and c@d.example"),
    ],
)
def test_what_lets_someone_in(text: str, shown: str) -> None:
    assert hidden(text) == shown
