from stepgrid.store.code_revision import LENGTH, digest, revision


def test_it_is_that_of_the_code_and_stays():
    assert revision() == revision()
    assert len(revision()) == LENGTH
    assert set(revision()) <= set("0123456789abcdef")


def test_names_and_contents_count_and_the_order_does_not(tmp_path):
    one, two = tmp_path / "a.py", tmp_path / "b.py"
    one.write_text("1")
    two.write_text("2")
    first = digest(tmp_path, [one, two])
    assert digest(tmp_path, [two, one]) == first
    two.write_text("3")
    assert digest(tmp_path, [one, two]) != first
    two.write_text("2")
    assert digest(tmp_path, [one, two]) == first
    assert digest(tmp_path, [one, two.rename(tmp_path / "c.py")]) != first
