from stepgrid.build.apt import stanzas


def test_fields_continuations_and_comments():
    text = "Package: a\nDepends: b,\n  c\n\n# a comment\n\nPACKAGE: d\nVersion: 1:2.0-3\n"
    assert list(stanzas(text)) == [
        {"package": "a", "depends": "b,\n  c"},
        {"package": "d", "version": "1:2.0-3"},
    ]


def test_a_comment_does_not_end_a_field():
    assert list(stanzas("Types: deb\n# once\nURIs: http://mirror.example/debian\n")) == [
        {"types": "deb", "uris": "http://mirror.example/debian"}
    ]


def test_nothing():
    assert list(stanzas("\n\n")) == []
