"""The options of all commands: one name has one meaning and one form."""

import argparse
import re
import shlex
from collections import defaultdict

import pytest

from stepgrid import cli
from stepgrid.cli.commands import COMMON, command_parser, every_command
from stepgrid.package import PACKAGE
from tests.cli.worlds import kept

# An option that several commands have takes the same value in each, but for these: they name another thing.
OTHER_VALUES = {
    "--against": "results to compare with, and in repro a cell",
    "--step": "a name, and in judge the column of a table",
    "--load": "in judge the column of a table",
    "--output": "a file, and in repro a folder",
    "--update": "builds of lock, and all figures of claims",
    "--smallest-effect": "a share, and in a gate of some steps",
}
OPTIONS = [(name, action) for name in every_command() for action in command_parser(name)._actions]


def forms():
    commands = defaultdict(lambda: defaultdict(list))
    for command, action in OPTIONS:
        for option in action.option_strings:
            if option.startswith("--"):
                commands[option][action.nargs, None if action.choices else action.metavar].append(command)
    return iter(commands.items())


def test_an_option_takes_the_same_value_in_every_command():
    differing = {option: dict(by_form) for option, by_form in forms() if len(by_form) > 1}
    assert differing.keys() <= OTHER_VALUES.keys(), differing


def test_each_idea_has_one_word():
    options = {option for option, _ in forms()}
    assert not options & {"--spec", "--within", "--budget", "--make", "--evict", "--apply"}
    for command, action in OPTIONS:
        if "--format" in action.option_strings:
            assert action.choices, command
            assert next(iter(action.choices)) == "text", command
            assert "table" not in action.choices, command
        if "--all" in action.option_strings:
            assert str(action.help).startswith("list everything"), command
        if "--yes" in action.option_strings:
            assert action.nargs == 0, command


@pytest.mark.parametrize("name", every_command())
def test_a_help_explains_its_own_options_and_names_the_common_ones_in_one_line(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    parser = command_parser(name)
    text = parser.format_help()
    common = next(line for line in text.splitlines() if line.startswith(COMMON))
    assert text.endswith(f"\n{common}\n")
    assert text.count("--site") <= 1
    for action in parser._actions:
        if action.option_strings and action.help != argparse.SUPPRESS:
            assert action.option_strings[-1] in text


OFFERED = re.compile(r"`(stepgrid [a-z]+ [^`\n]+)`")


def offered():
    """With words that stand for what is filled in; `…` begins what a reader adds."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for command in OFFERED.findall(path.read_text(encoding="utf-8")):
            yield re.sub(r"\{[^{}]*\}", "x", command).replace(" …", "")


def parsed(command, monkeypatch):
    monkeypatch.setattr(cli, "_execute", lambda arguments, name: 0)
    try:
        return cli.main(shlex.split(command)[1:]) == 0
    except SystemExit as end:  # of --help: 0
        return end.code == 0


@pytest.mark.parametrize("command", sorted(set(offered())))
def test_an_offered_command_is_one(command, monkeypatch):
    assert parsed(command, monkeypatch), command


@pytest.mark.usefixtures("folder")
def test_explain_without_a_cell_shows_all(capsys):
    kept()
    assert cli.main(["explain", "a.yaml"]) == 0
    whole = capsys.readouterr().out
    assert cli.main(["explain", "a.yaml", "build=rocksdb-9.10.0,threads=2"]) == 0
    assert capsys.readouterr().out.rstrip() in whole


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["--help"])
    assert end.value.code == 0
    output = capsys.readouterr().out
    assert all(f"\n  {command}  " in output for command in every_command())
