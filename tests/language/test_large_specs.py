"""What of a large spec once took minutes: bench/big_inputs.py has the times."""

from collections import Counter

from stepgrid.language.problems import MOST_NAMES, MOST_SHOWN, Location, Problems, close_names, nearest


def test_of_very_many_names_none_is_meant() -> None:
    names = [f"name{number}" for number in range(MOST_NAMES)]
    assert close_names("nam1", names) == ["name1"]
    assert close_names("nam1", [*names, "another"]) == []
    assert nearest("nam1", [*names, "another"]).startswith("known here: another, name0, name1, name10, ")


def test_what_is_not_shown_has_no_suggestion() -> None:
    problems = Problems()
    for number in range(MOST_SHOWN + 5):
        problems.undefined("build", f"nam{number}", Location("a.yaml", number + 1, 1), ["name"])
    assert Counter(each.hint for each in problems.items) == {"did you mean `name`?": MOST_SHOWN + 1, "": 4}
