import pytest
from hypothesis import given
from hypothesis.strategies import integers, lists, text

from stepgrid.language.expressions import ExpressionError, evaluate, references, render
from stepgrid.language.scalars import Version


def test_a_whole_expression_keeps_its_type() -> None:
    assert render("{{ a // 2 }}", {"a": 5}) == 2
    assert render("v{{ a }}", {"a": Version("9.10")}) == "v9.10"
    assert render("{{ a }}", {"a": Version("9.10")}) == "9.10"
    assert isinstance(render("{{ a }}", {"a": "9.10"}), str)


@pytest.mark.parametrize(
    ("expression", "message", "name"),
    [
        ("cach == 'lru'", "`cach` is not defined", "cach"),
        ("a ==", "`a ==` is not an expression: it ends too early", ""),
        ("1 // 0", "`1 // 0` has no value: a division by zero", ""),
        ("a.b", "`a.b` is not defined", "b"),
    ],
)
def test_faults_are_sentences(expression: str, message: str, name: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(expression, {"a": 1})
    assert (str(caught.value), caught.value.name) == (message, name)


def test_the_sandbox_holds() -> None:
    with pytest.raises(ExpressionError):
        evaluate("''.__class__.__mro__[1].__subclasses__()", {})


def test_references() -> None:
    assert references("{{ params.keys // params.threads }}") == {("params", "keys"), ("params", "threads")}
    assert references("options.x == 'params.y'") == {("options", "x")}


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("([range(10000)|list]*10000)|map('list')|list", "it takes more than 1,000,000 steps"),
        ("'a'.encode().ljust(3*10**9)", "`encode` is not for specs"),
        ("(1).to_bytes(3000000000, 'little')", "`to_bytes` is not for specs"),
        ("[[1]]|sum(start=[])", "only numbers have a sum"),
        ("('a'*9999)|replace('a', 'bb')", "a text or a list has at most 10000 parts"),
        ("('a'*9999).replace('a', 'bb')", "a text or a list has at most 10000 parts"),
        ("('a'*9999) ~ ('a'*9999)", "a text or a list has at most 10000 parts"),
        ("range(9999)|map('string')|join", "a text or a list has at most 10000 parts"),
        ("[range(9999)|list]*100", "its value has more than 100,000 parts"),
        ("range ~ ''", "a function is no value"),
        ("{}.items", "a function is no value"),
        ("'\\ud800'", "half a character is no text"),
        ("'a' ~ '\\x00'", "no text of a program or a file can hold NUL (U+0000)"),
    ],
)
def test_what_would_take_long_or_much_memory_has_no_value(expression: str, said: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(expression, {})
    assert str(caught.value) == f"`{expression}` has no value: {said}"


def test_a_number_of_too_many_digits() -> None:
    with pytest.raises(ExpressionError, match="9…` has no value: a number has more than 4300 digits"):
        evaluate("9" * 5000, {})


def test_an_expression_that_is_too_long() -> None:
    with pytest.raises(ExpressionError, match="is too long or too deep to be evaluated"):
        evaluate("1" + "+1" * 10_000, {})


@pytest.mark.parametrize("name", ["random", "center", "tojson", "attr", "pprint", "xmlattr", "urlize"])
def test_a_filter_that_is_not_the_same_each_time_or_not_for_specs(name: str) -> None:
    with pytest.raises(ExpressionError, match=f"there is no filter `{name}`"):
        evaluate(f"'a'|{name}", {})


def test_values_that_double_in_each_param_are_refused_before_they_are_large() -> None:
    value: object = "aa"
    for _ in range(15):
        value = evaluate("[a, a]", {"a": value})
    with pytest.raises(ExpressionError, match="its value has more than 100,000 parts"):
        evaluate("[a, a]", {"a": value})


@given(integers(0, 60), lists(integers(-9, 9), max_size=9), text("ab ,", max_size=9))
def test_what_filters_and_methods_give_is_what_python_gives(number: int, numbers: list[int], words: str) -> None:
    names = {"n": number, "numbers": numbers, "words": words}
    assert evaluate("numbers|map('abs')", names) == [abs(each) for each in numbers]
    assert evaluate("numbers|sum", names) == sum(numbers)
    assert evaluate("numbers|sort|unique|join('-')", names) == "-".join(map(str, sorted(set(numbers))))
    assert evaluate("words.split(',')|reject('==', '')|list", names) == [part for part in words.split(",") if part]
    assert evaluate("words|replace('a', 'bb') ~ n", names) == words.replace("a", "bb") + str(number)
    assert evaluate("words.replace('a', 'c', 1)", names) == words.replace("a", "c", 1)
    assert evaluate("missing|default(n)", names) == number
    assert render("{{ n }}-{{ words }}", names) == f"{number}-{words}"


@pytest.mark.parametrize(
    "text", ["v{{ nope }}", "{{ nope }}", "{{ 'v' ~ nope }}", "{{ nope|upper }}", "{{ [1]|map(nope) }}"]
)
def test_a_name_that_is_not_there_is_named_wherever_it_stands(text: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        render(text, {})
    assert str(caught.value) == "`nope` is not defined"
