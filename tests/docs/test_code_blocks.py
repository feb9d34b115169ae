"""Code on pages: specs compile, commands and their options exist, Python is Python."""

import ast
import re
import shlex

import pytest

from stepgrid.cli.commands import command_parser
from tests.docs.pages import DOCS, ROOT, TEXTS, anchors, blocks, links, name, write_files

OF_THE_LANGUAGE = DOCS / "reference/language.md"  # tests/test_language_page.py compiles those with what they include
PLUGINS = {page for page in TEXTS for block in blocks(page, "toml") if block.file}  # they are run with their plug-in
SPECS = [
    block for page in TEXTS
    if page != OF_THE_LANGUAGE and page not in PLUGINS and DOCS / "problems" not in page.parents
    for block in blocks(page, "yaml") if re.match(r"title:", block.text)
]  # fmt: skip
SHELL = [block for page in TEXTS for block in blocks(page, "sh", "")]
PYTHON = [block for page in TEXTS for block in blocks(page, "python")]
LEARNED = {block.text for page in (DOCS / "guides").glob("*.md") for block in blocks(page, "yaml")}


@pytest.mark.parametrize("block", SPECS, ids=str)
def test_a_spec_on_a_page_compiles(block, compile_text, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "slower.patch").write_text("a patch")
    (tmp_path / "bench").mkdir()
    for script in ("old.py", "new.py"):
        (tmp_path / "bench" / script).write_text("#!/usr/bin/env python3\n")
    write_files(block.page, tmp_path)
    for script in (path for path in tmp_path.rglob("*") if path.is_file()):
        script.chmod(0o755)
    assert compile_text(block.text).cells


def commands(text):
    """Of stepgrid; a line of a usage, or what follows two spaces, is for people."""
    for line in text.splitlines():
        said = re.split(r"\s{2,}| \| | > | && | #", line.strip().removeprefix("$ "))[0]
        if re.match(r"stepgrid [a-z]", said) and not re.search(r"[…\[\]]|\.\.\.|[A-Z]\|", said):
            yield shlex.split(said)[1:]


@pytest.mark.parametrize("block", [block for block in SHELL if any(commands(block.text))], ids=str)
def test_a_command_on_a_page_is_one(block, capsys):
    wrong = [shlex.join(words) for words in commands(block.text) if not parses(words)]
    assert wrong == [], capsys.readouterr().err


def parses(words):
    try:
        return command_parser(words[0]).parse_args(words[1:]) is not None
    except SystemExit as end:
        return end.code == 0  # of --help


def test_many_commands_are_looked_at():
    assert sum(len(list(commands(block.text))) for block in SHELL) > 50


@pytest.mark.parametrize("block", PYTHON, ids=str)
def test_python_on_a_page_is_python(block):
    ast.parse(block.text)


def test_targets_of_make_on_pages_exist():
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    said = {name for block in SHELL for name in re.findall(r"^make ([a-z-]+)", block.text, re.MULTILINE)}
    assert said <= known


def test_the_tutorials_have_specs():
    assert len([text for text in LEARNED if text.startswith("title:")]) >= 2


@pytest.mark.parametrize("page", TEXTS, ids=name)
def test_every_link_of_a_page_leads_somewhere(page):
    assert [link for link in links(page) if not link.startswith(("http:", "https:")) and not leads(page, link)] == []


def leads(page, link):
    path, _, heading = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return target.exists() and (not heading or heading in anchors(target))
