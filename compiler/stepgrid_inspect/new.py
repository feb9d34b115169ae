"""stepgrid new, snakefile and completion: a spec to start from, and what Snakemake and shells need."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

from stepgrid.cli.failures import CommandError
from stepgrid.errors import FINE
from stepgrid.language.problems import Problems, nearest
from stepgrid.package import MODULE, SNAKEFILE
from stepgrid.plugins.registry import DRIVERS, ENGINES, client_engine

SCHEMA_NAME = "spec.schema.json"
SHELLS = ("bash", "zsh", "fish")
SPEC_ENDINGS = ("yaml", "yml")


def add_new_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("engine", metavar="ENGINE", nargs="?", help=f"one of: {', '.join(engines())}")
    parser.add_argument("file", metavar="FILE", nargs="?", help="the file to write (specs/ENGINE.yaml)")


def run_new(args: argparse.Namespace) -> int:
    if args.engine is None:
        width = max(map(len, engines()))
        for name in engines():
            print(f"{name:{width}}  {_title(name)}")
        print("\nnext: stepgrid new rocksdb my.yaml")
        return FINE
    if args.engine not in engines():
        if args.engine not in ENGINES.names():
            hint = nearest(args.engine, engines())
        elif any(client_engine(kind) == args.engine for kind in DRIVERS.names()):
            hint = f"it is a client, which asks a server; name one of {', '.join(engines())}"
        else:
            hint = "the engine brings no `starting.yaml`; its package may have a spec"
        raise CommandError(f"there is no starting spec for `{args.engine}`: {hint}")
    target = Path(args.file or f"specs/{args.engine}.yaml")
    text = _starting_spec(args.engine).read_text(encoding="utf-8")
    schemas = (folder / SCHEMA_NAME for folder in (target.parent, Path(), Path("specs")))
    if schema := next((path for path in schemas if path.is_file()), None):
        text = f"# yaml-language-server: $schema={os.path.relpath(schema, target.parent)}\n{text}"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise CommandError(f"{target} is there already and was left as it is; name another file") from None
    except OSError as error:
        raise CommandError(f"{target} cannot be written: {error.strerror}") from error
    print(f"wrote {target}; next: stepgrid plan {target}")
    return FINE


def engines() -> list[str]:
    """Return the engines that have a starting spec."""
    return [name for name in ENGINES.names() if _starting_spec(name).is_file()]


def _starting_spec(engine: str) -> Path:
    """Return the file beside the module of the engine, whatever package has it."""
    return ENGINES.folder(engine) / "starting.yaml"


def _title(engine: str) -> str:
    from stepgrid.language.yaml import load

    spec = load(str(_starting_spec(engine)), Problems())
    return str(spec["title"]) if spec else ""


def add_snakefile_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--module", action="store_true", help="the one for `module:` in your workflow")


def run_snakefile(args: argparse.Namespace) -> int:
    print(MODULE if args.module else SNAKEFILE)
    return FINE


def add_completion_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "shell",
        choices=SHELLS,
        help='in ~/.bashrc: eval "$(stepgrid completion bash)"; fish: stepgrid completion fish | source',
    )


def run_completion(args: argparse.Namespace) -> int:
    from argcomplete.shell_integration import shellcode

    print(shellcode(["stepgrid"], shell=args.shell))
    return FINE


def typed_words() -> list[str]:
    """Return the words after `stepgrid` of the command line that a shell completes."""
    return os.environ["COMP_LINE"][: int(os.environ["COMP_POINT"])].split()[1:]


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell, and end the process."""
    from argcomplete import autocomplete
    from argcomplete.completers import BaseCompleter, FilesCompleter

    class Completer(BaseCompleter):
        """Complete what argparse has no choices for."""

        def __call__(self, *, prefix: str, action: argparse.Action, **_: object) -> Iterable[str]:
            if action.dest == "scale":
                return _scales(typed_words())
            if action.dest == "engine":
                return engines()
            return FilesCompleter(SPEC_ENDINGS if action.dest in ("spec", "specs") else ())(prefix)

    autocomplete(parser, default_completer=Completer())


def _scales(words: Iterable[str]) -> Iterable[str]:
    from stepgrid.language.yaml import Map, load

    spec = next((load(word, Problems()) for word in words if word.endswith(SPEC_ENDINGS)), None)
    scales = spec.get("scales") if spec else None
    return list(scales) if isinstance(scales, Map) else ()
