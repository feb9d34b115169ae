import pytest

from stepgrid.language.scalars import option_value, param_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8),
        ("-1", -1),
        ("0.5", 0.5),
        ("7.3e-05", 7.3e-05),
        ("1e3", 1000.0),
        ("true", True),
        ("false", False),
        ("off", "off"),
        ("OFF", "OFF"),
        ("8KiB", 8192),
        ("1.5GiB", 3 * 2**29),
        ("16M", "16M"),
        ("30s", "30s"),
        ("lru_cache", "lru_cache"),
    ],
)
def test_options_are_the_engines_own(text: str, value: object) -> None:
    assert option_value(text) == value
    assert type(option_value(text)) is type(value)


def test_what_is_quoted_stays_text() -> None:
    assert option_value("8", quoted=True) == "8"
    assert param_value("100M", quoted=True) == "100M"


@pytest.mark.parametrize(
    ("text", "value"), [("100M", 10**8), ("2MiB", 2**21), ("30m", 1800.0), ("x", "x"), ("true", True)]
)
def test_params_are_their_numbers(text: str, value: object) -> None:
    assert param_value(text) == value
