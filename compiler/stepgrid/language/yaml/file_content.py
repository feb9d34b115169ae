"""The bytes of a spec file: a regular file of a bounded size, else a problem."""

from __future__ import annotations

from pathlib import Path

from stepgrid.language import input_record
from stepgrid.language.problems.problem import Location, Problems
from stepgrid.language.regular_file import NotRegularError, head
from stepgrid.model.number_format import size

MOST_BYTES = 512 << 10  # what `check` reads in some seconds


def read(path: str, problems: Problems, asked_at: Location | None = None) -> bytes | None:
    """None, with the reason among the problems; a file that is not there as asked for at a place, or as a spec."""
    where = asked_at or Location(path, 1, 1)
    try:
        content = head(path, MOST_BYTES)
    except FileNotFoundError:
        problems.add("file-not-found", where, f"there is no file `{path}`", _siblings(path, asked_at is None))
    except NotRegularError as error:
        problems.add("file-not-found", where, f"`{path}` is {error}, not a spec")
    except OSError as error:
        problems.add("file-not-found", where, f"`{path}` cannot be read: {error.strerror}")
    except ValueError:
        pass  # a NUL in its name, which is said where the name stands
    else:
        if len(content) <= MOST_BYTES:
            input_record.saw(path, content)
            return content
        hint = "an axis of `sweep` writes its combinations out by itself"
        problems.add("too-large", where, f"the file `{path}` is larger than {size(MOST_BYTES)}", hint)
    return None


def _siblings(path: str, specs: bool) -> str:
    """What was probably meant: a spec has a title, a library has none."""
    from stepgrid.language.problems.suggestion import nearest

    folder = Path(path).parent
    found = sorted(folder.glob("*.yaml")) if "\0" not in path and folder.is_dir() else []
    names = [entry.name for entry in found if _has_title(entry) == specs]
    return nearest(Path(path).name, names) if names else ""


def _has_title(path: Path) -> bool:
    try:
        return b"\ntitle:" in b"\n" + head(str(path))
    except OSError:
        return False
