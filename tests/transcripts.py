"""Transcripts of commands: files of scenes, each with commands and exactly what they print.

    # A scene is a test, in a folder of its own; this line is its name.

      $ cat > a.yaml <<END
      > title: t
      > END
      $ stepgrid check a.yaml
      a.yaml:1:1: error[missing-key]: `builds` is missing
      [1]

`stepgrid` and the words of tests/cli/worlds.py run in this process, all else in bash. Both streams are one text.
`[1]` is an exit status other than 0. Ids, times and places are numbered or named, `$NAME` is a word that `world` has
set. What stands before the first scene begins each. `make golden` writes the texts anew.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from stepgrid.cli import main
from stepgrid.language import problems
from stepgrid.workflow import run_request
from tests.golden import OPTION

IDS = re.compile(r"\b([bcs])-[0-9a-f]{20}\b")
NAMED = (
    (re.compile(r"\b[0-9a-f]{64}\b"), "SHA256"),
    (re.compile(r"\b[0-9a-f]{40}\b"), "COMMIT"),
    (re.compile(r"\b[0-9a-f]{20}\b"), "PLAN"),
    (re.compile(r"\b20\d{6}T\d{6}\.\d{6}Z"), "ATTEMPT"),
    (re.compile(r"\b202[4-9]-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?([.\d]+)?(\+00:00|Z| UTC)?"), "TIME"),
    (re.compile(r"(\bpid |\bprocess |/proc/)\d+"), r"\1N"),
)


class Scene(NamedTuple):
    file: Path
    name: str
    prose: tuple[str, ...]
    commands: tuple[str, ...]  # each with its further lines

    def __str__(self):
        return f"{self.file.stem}: {self.name}"


def scenes(folder):
    """All of a folder; what begins each scene of a file is in the first, nameless one."""
    for file in sorted(folder.glob("*.txt")):
        for block in re.split(r"^(?=# )", file.read_text(encoding="utf-8"), flags=re.MULTILINE):
            name, _, body = block.partition("\n") if block.startswith("# ") else ("", "", block)
            lines = body.splitlines()
            prose = tuple(line for line in lines if line and not line.startswith("  "))
            yield Scene(file, name[2:], prose, tuple(_commands(lines)))


def _commands(lines):
    command = ""
    for line in lines:
        if line.startswith("  > "):
            command += "\n" + line[4:]
        elif line == "  >":
            command += "\n"
        elif line.startswith("  $ "):
            if command:
                yield command
            command = line[4:]
    if command:
        yield command


def _first_of_pipe(command):
    """The first command of a pipe, whether there is one, and what its output goes through."""
    for found in re.finditer(r" \| ", command):
        if command[: found.start()].count("'") % 2 == 0:
            return command[: found.start()], True, command[found.end() :]
    return command, False, ""


class Terminal:
    """Runs the commands of a scene in the current folder."""

    def __init__(self, worlds):
        self.worlds, self.names = worlds, dict[str, str]()
        self.folder = str(Path.cwd())
        self.ids: dict[str, str] = {}

    def text(self, scene):
        """The scene as it is now."""
        lines = [f"# {scene.name}", *(["", *scene.prose] if scene.prose else []), ""]
        for command in scene.commands:
            status, output = self.run(command)
            lines += [
                "  $ " + command.replace("\n", "\n  > "),
                *("  " + line for line in self.normal(output).splitlines()),
            ]
            lines += [f"  [{status}]"] if status else []
        return "".join(f"{line}\n" for text in lines for line in [part.rstrip() for part in text.splitlines() or [""]])

    def run(self, command):
        before = dict(os.environ)
        try:
            first, pipe, rest = _first_of_pipe(command)
            program, _, _ = first.partition(" ")
            if program not in ("stepgrid", "world"):
                return self._shell(command, "")
            words = shlex.split(re.sub(r"\$([A-Z_]+)", lambda found: self.names.get(found[1], found[0]), first))
            status, output = self._stepgrid(words[1:]) if program == "stepgrid" else self._world(words[1:])
            return (status, self._shell(rest, output)[1]) if pipe else (status, output)
        finally:
            os.environ.clear()
            os.environ.update(before)

    def _stepgrid(self, words):
        problems._source.cache_clear()
        run_request.requested_plan.cache_clear()
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
            try:
                status = main(words)
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 1
        return status, stream.getvalue()

    def _world(self, words):
        name, *arguments = words
        value = self.worlds[name](*arguments)
        if value is not None:
            self.names[name.upper()] = value
        return 0, ""

    def _shell(self, command, text):
        programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        env = {**os.environ, **self.names, "PATH": programs}
        done = subprocess.run(
            ["bash", "-c", command], input=text, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return done.returncode, done.stdout

    def normal(self, text):
        text = IDS.sub(lambda found: self.ids.setdefault(found[0], f"{found[1]}-{len(self.ids) + 1}"), text)
        text = text.replace(self.folder, "FOLDER").replace(str(Path(self.folder).parent), "ABOVE")
        for pattern, name in NAMED:
            text = pattern.sub(name, text)
        return text


def check(scene, beginning, worlds, request):
    terminal = Terminal(worlds)
    for command in beginning.commands:
        terminal.run(command)
    text = terminal.text(scene)
    assert "stopped at an internal error" not in text
    whole = scene.file.read_text(encoding="utf-8")
    start = whole.index(f"# {scene.name}\n")
    end = whole.find("\n# ", start) + 1 or len(whole)
    recorded = whole[start:end].rstrip("\n") + "\n"
    if request.config.getoption(OPTION) and text != recorded:
        more = "\n" if end < len(whole) else ""
        scene.file.write_text(whole[:start] + text + more + whole[end:], encoding="utf-8")
    else:
        assert text == recorded, "`make golden` writes it anew"
