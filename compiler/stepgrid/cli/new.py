"""stepgrid new [ENGINE [FILE]]: a commented spec to start from; without a name, which there are."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from stepgrid.language.problems import nearest
from stepgrid.plugins.registry import ENGINES

SCHEMA = Path("specs/spec.schema.json")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("engine", metavar="ENGINE", nargs="?", help=f"one of: {', '.join(engines())}")
    parser.add_argument("file", metavar="FILE", nargs="?", help="the file to write (specs/ENGINE.yaml)")


def run(args: argparse.Namespace) -> int:
    if args.engine is None:
        return _list()
    if args.engine not in engines():
        print(f"there is no starting spec for `{args.engine}`: {_instead(args.engine)}", file=sys.stderr)
        return 2
    target = Path(args.file or f"specs/{args.engine}.yaml")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8") as file:
            file.write(_text(args.engine, target))
    except FileExistsError:
        print(f"{target} is there already and was left as it is; name another file", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{target} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    print(f"wrote {target}; next: stepgrid plan {target}")
    return 0


def _list() -> int:
    """Each by its title."""
    width = max(map(len, engines()))
    for name in engines():
        print(f"{name:{width}}  {_title(name)}")
    print("\nnext: stepgrid new rocksdb my.yaml")
    return 0


def engines() -> list[str]:
    """Those with a text to start from."""
    return [name for name in ENGINES.names() if _starting(name).is_file()]


def _starting(engine: str) -> Path:
    """Beside the module of the engine, whatever package brings it."""
    return ENGINES.folder(engine) / "starting.yaml"


def _title(engine: str) -> str:
    from stepgrid.language.problems import Problems
    from stepgrid.language.yaml import load

    spec = load(str(_starting(engine)), Problems())
    return str(spec["title"]) if spec else ""


def _instead(engine: str) -> str:
    if engine in ENGINES.names():
        return f"it is a client, which asks a server; name one of {', '.join(engines())}"
    return nearest(engine, engines())


def _text(engine: str, target: Path) -> str:
    text = _starting(engine).read_text(encoding="utf-8")
    if not SCHEMA.is_file():
        return text
    schema = os.path.relpath(SCHEMA, target.parent)
    return f"# yaml-language-server: $schema={schema}\n{text}"
