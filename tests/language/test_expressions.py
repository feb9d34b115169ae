import pytest
from hypothesis import given
from hypothesis.strategies import integers, lists, text

from stepgrid.language.expressions import ExpressionError, evaluate, references, render
from stepgrid.language.scalars import Version


def test_a_whole_expression_keeps_its_type():
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
def test_faults_are_sentences(expression, message, name):
    with pytest.raises(ExpressionError) as caught:
        evaluate(expression, {"a": 1})
    assert (str(caught.value), caught.value.name) == (message, name)


def test_the_sandbox_holds():
    with pytest.raises(ExpressionError):
        evaluate("''.__class__.__mro__[1].__subclasses__()", {})


def test_references():
    assert references("{{ params.keys // params.threads }}") == {("params", "keys"), ("params", "threads")}
    assert references("options.x == 'params.y'") == {("options", "x")}


PARTS, BITS = "a text or a list has at most 10000 parts", "a number has at most 1024 bits"


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("'a'.encode().ljust(3*10**9)", "`encode` is not for specs"),
        ("(1).to_bytes(3000000000, 'little')", "`to_bytes` is not for specs"),
        ("'{}'.format(1)", "`format` is not for specs"),
        ("9**9**9**9", BITS),
        ("0x" + "f" * 300, BITS),
        ("2.0**5000", "it would be infinite"),
        ("(-8)**0.5", "it would be no number"),
        ("'a' * 10**9", "there is no `*` of a text and a number"),
        ("'%999999999s' % 1", "there is no `%` of a text and a number"),
        ("long|replace('a', 'bb')", PARTS),
        ("long.replace('', 'bb')", PARTS),
        ("long ~ long", PARTS),
        ("long + long", PARTS),
        ("[long, long]", PARTS),
        ("items|join(long)", PARTS),
        ("5|round(-10**9)", "a number is rounded to at most 100 digits"),
        ("has ~ ''", "a function is no value"),
        ("[has]", "a function is no value"),
        ("'a'.upper", "a function is no value"),
        ("'\\ud800'", "half a character is no text"),
        ("'a' ~ '\\x00'", "no text of a program or a file can hold NUL (U+0000)"),
    ],
)
def test_what_would_take_long_or_much_memory_has_no_value(expression, said):
    with pytest.raises(ExpressionError) as caught:
        evaluate(expression, {"long": "a" * 9999, "items": ["a"] * 9999, "has": str})
    assert str(caught.value).endswith(f"…` has no value: {said}" if len(expression) > 120 else f" has no value: {said}")


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("9" * 5000, "a number has too many digits"),
        ("items|map('abs')", "there is no filter `map`"),
        ("'a'|attr('upper')", "there is no filter `attr`"),
        ("1 is nothing", "there is no test `nothing`"),
        ("items[1:]", "it has a slice, which is not for specs"),
        ("{'a': 1}", "it has a dict, which is not for specs"),
        ("has(*items)", "`*` cannot stand before an argument"),
    ],
)
def test_what_is_not_on_the_list_is_no_expression(expression, said):
    with pytest.raises(ExpressionError) as caught:
        evaluate(expression, {})
    assert str(caught.value).endswith(f"` is not an expression: {said}")


@pytest.mark.parametrize("expression", ["1" + "+1" * 9_999, "(" * 500, "[" + "1," * 1500 + "1]", "1" + "+1" * 400])
def test_an_expression_that_is_too_long_or_too_deep(expression):
    with pytest.raises(ExpressionError, match="is too long or too deep to be evaluated"):
        evaluate(expression, {})


def test_values_that_double_in_each_param_are_refused_before_they_are_large():
    value = "aa"
    for _ in range(11):
        value = evaluate("[a, a]", {"a": value})
    with pytest.raises(ExpressionError, match=PARTS):
        evaluate("[a, a]", {"a": value})


@given(integers(0, 60), lists(integers(-9, 9), min_size=1, max_size=9), text("ab ,", max_size=9))
def test_what_filters_and_methods_give_is_what_python_gives(number, numbers, words):
    names = {"n": number, "numbers": numbers, "words": words}
    assert evaluate("numbers|sum", names) == sum(numbers)
    assert evaluate("numbers|max - numbers|min", names) == max(numbers) - min(numbers)
    assert evaluate("numbers|sort|unique|join('-')", names) == "-".join(map(str, sorted(set(numbers))))
    assert evaluate("words.split(',')|length", names) == words.count(",") + 1
    assert evaluate("words|replace('a', 'bb') ~ n", names) == words.replace("a", "bb") + str(number)
    assert evaluate("words.replace('a', 'c', 1)", names) == words.replace("a", "c", 1)
    assert evaluate("missing|default(n)", names) == number
    assert evaluate("(n / 7)|round|int", names) == round(number / 7)
    assert render("{{ n }}-{{ words }}", names) == f"{number}-{words}"


@pytest.mark.parametrize("text", ["v{{ nope }}", "{{ nope }}", "{{ 'v' ~ nope }}", "{{ nope|upper }}"])
def test_a_name_that_is_not_there_is_named_wherever_it_stands(text):
    with pytest.raises(ExpressionError) as caught:
        render(text, {})
    assert str(caught.value) == "`nope` is not defined"
