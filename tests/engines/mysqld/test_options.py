"""Options of mysqld: values of the table of its help, choices, names with a prefix; programs.yaml has the rest."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepgrid.plugins.engine import OptionInfo
from stepgrid_databases.engines.mysqld.options import choices, parse_help, prefixed_option
from tests.cases import rows

_NAMES = st.text(string.ascii_lowercase + string.digits + "-", min_size=1, max_size=70).map(lambda text: f"o{text}")
_VALUES = st.text(string.ascii_letters + string.digits + "=,:;/ ", max_size=50).map(str.strip)


@given(st.dictionaries(_NAMES.filter(lambda name: name not in ("basedir", "pid-file")), _VALUES, max_size=8))
def test_every_option_has_the_value_of_the_table(values):
    entries = "".join(f"  --{name}=name \n                      About it\n" for name in values)
    rows = "".join(f"{name:<60} {value}\n" for name, value in values.items())
    text = f"{entries}\nVariables (--variable-name=value)\n{'-' * 60} -------------\n{rows}\nTo see more\n"
    found = parse_help(text)
    same = {name.replace("-", "_"): value for name, value in values.items()}
    assert {name: option.default for name, option in found.items()} == same
    assert {option.help for option in found.values()} <= {"About it"}


@pytest.mark.parametrize(("help_", "default", "expected"), rows(__file__, "what they are"))
def test_what_they_are(help_, default, expected):
    assert choices(help_, default) == tuple(expected.split())


CATALOGUE = {name: OptionInfo(type=kind) for name, kind in
             {"log_bin": "text", "autocommit": "bool", "sort_buffer_size": "number"}.items()}  # fmt: skip


@pytest.mark.parametrize(("names", "kind"), rows(__file__, "names_with_a_prefix"))
def test_names_with_a_prefix(names, kind):
    expected = None if kind is None else OptionInfo(type=kind)
    assert [prefixed_option(name, CATALOGUE) for name in names] == [expected] * len(names)
