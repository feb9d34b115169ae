from stepgrid.language.problems import Location, Problem, format_annotation, problem_record


def test_a_problem_as_json_has_every_part() -> None:
    problem = Problem("a-code", Location("a.yaml", 3, 7), "wrong", "do this", "warning", 4)
    assert [problem_record(problem)] == [
        {
            "code": "a-code",
            "severity": "warning",
            "file": "a.yaml",
            "line": 3,
            "column": 7,
            "message": "wrong",
            "hint": "do this",
        }
    ]


def test_github_escapes_data_and_properties() -> None:
    problem = Problem("a-code", Location("specs/a,b:c%.yaml", 3, 7), "50 %: a, b\r\nmore", "then: that")
    assert format_annotation(problem) == (
        "::error file=specs/a%2Cb%3Ac%25.yaml,line=3,col=7,title=a-code::50 %25: a, b%0D%0Amore%0Athen: that"
    )
