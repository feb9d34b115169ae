from stepgrid.store.store import REVISION_LENGTH, revision, source_digest


def test_it_is_that_of_the_code_and_stays():
    assert revision() == revision()
    assert len(revision()) == REVISION_LENGTH
    assert set(revision()) <= set("0123456789abcdef")


def test_names_and_contents_count_and_the_order_does_not(tmp_path):
    one, two = tmp_path / "a.py", tmp_path / "b.py"
    one.write_text("1")
    two.write_text("2")
    first = source_digest(tmp_path, [one, two])
    assert source_digest(tmp_path, [two, one]) == first
    two.write_text("3")
    assert source_digest(tmp_path, [one, two]) != first
    two.write_text("2")
    assert source_digest(tmp_path, [one, two]) == first
    assert source_digest(tmp_path, [one, two.rename(tmp_path / "c.py")]) != first
