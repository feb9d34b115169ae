from stepgrid.summarize.formats.text_grid import grid


def test_columns_line_up_and_lines_have_no_trailing_space():
    assert grid(["a", "long head", "b"], [["1", "x", "yy"], ["22", "", "z"]], 1) == [
        "  a   long head  b",
        "  1   x          yy",
        "  22             z",
    ]


def test_too_wide_a_table_goes_on_below_with_its_first_columns():
    assert grid(["row", "one", "two"], [["r", "1" * 8, "2" * 8]], 1, width=18) == [
        "  row  one",
        "  r    11111111",
        "",
        "  row  two",
        "  r    22222222",
    ]


def test_a_column_wider_than_the_page_still_shows():
    assert grid(["row", "one"], [["r", "1" * 30]], 1, width=10)[1] == "  r    " + "1" * 30


def test_a_text_with_nothing_behind_it_runs_on():
    assert grid(["a", "b", "c"], [["1", "unsupported", ""], ["2", "x", "y"]], 1) == [
        "  a  b  c",
        "  1  unsupported",
        "  2  x  y",
    ]
