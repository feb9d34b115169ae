"""Which files a spec may read: those below its own folder, the shipped library, and the site file's `roots`."""

from __future__ import annotations

import os

from stepgrid.language.problems import Problems
from stepgrid.language.site.site_file import of_environment
from stepgrid.language.yaml import Text
from stepgrid.model.package_data import SPECS


def allowed(path: str, spec: str) -> bool:
    """Where links lead counts, not where they stand: `secret.patch -> /etc/shadow` is outside."""
    if "\0" in path:
        return True  # no file has such a name, which whoever opens it says
    real = os.path.realpath(path)
    folders = (os.path.dirname(spec) or ".", str(SPECS), *of_environment().roots)  # noqa: PTH120 - an import less
    return any(_below(real, os.path.realpath(folder)) for folder in folders)


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def check(path: str, spec: str, named: Text, problems: Problems) -> bool:
    """Whether the file that stands there may be read; else there is a problem."""
    if allowed(path, spec):
        return True
    problems.add("file-outside", named.where, message(path), HINT, len(named))
    return False


HINT = "copy it there, or list a folder that holds it under `roots` in the site file"


def message(path: str) -> str:
    return f"the file `{path}` is outside the spec's folder"
