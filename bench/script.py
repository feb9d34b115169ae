"""The shell script that a careful person would write for the steps of a stage, made of the commands recorded there."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.overhead_run import Place, rates
from bench.spent import Spent

HEAD = """\
#!/bin/sh
# sh steps.sh LOADED FOLDER: the steps, one after the other, on a copy of the loaded database, if one is there
set -eu
mkdir "$2/data"
for file in "$1"/*; do
  [ -e "$file" ] || continue
  case $file in
    *.sst) ln "$file" "$2/data/" ;;
    *) cp -p "$file" "$2/data/" ;;
  esac
done
"""


class Plain(NamedTuple):
    took: Spent
    rates: Mapping[str, float]


def write(path: Path, place: Place) -> Path:
    path.write_text(HEAD + "".join(_steps(place)), encoding="utf-8")
    return path


def read(folder: Path, took: Spent, place: Place) -> Plain:
    return Plain(took, rates([folder / step.name for step in place.steps], place.stage))


def _steps(place: Place) -> Iterator[str]:
    for step in place.steps:
        command = json.loads((step / "command.json").read_text(encoding="utf-8"))
        yield f'mkdir "$2/{step.name}"\ncd "$2/{step.name}"\n{_line(command, step.name)} >stdout 2>stderr\n'


def _line(command: Mapping[str, Any], step: str) -> str:
    variables = [f"{name}={value}" for name, value in command["environment"].items()]
    return " ".join(["env", "-i", *map(shlex.quote, variables), *(_word(word, step) for word in command["argv"])])


def _word(word: str, step: str) -> str:
    """With the script's own folders in place of those of the run."""
    name, equals, value = word.partition("=")
    if name == "--db":
        return '--db="$2/data"'
    if equals and value.startswith("/") and "/steps/" in value:
        return f'{name}="$2/{step}/{Path(value).name}"'
    return shlex.quote(word)
