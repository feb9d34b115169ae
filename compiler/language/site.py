"""The site file: what is true of this place and never of a spec. Chosen with --site FILE or --config site=FILE."""

from __future__ import annotations

from compiler.language.load import load
from compiler.language.models import Label, Model
from compiler.language.problem import Problems, SpecError
from compiler.language.validate import validated


class Site(Model):
    data: Label | None = None  # the folder of live databases and their images; left out: below outputs/
    allow_other_hardware: bool = False  # measure under this host's own id where a spec describes another machine


def read(path: str) -> Site:
    """SpecError holds everything that is wrong with it."""
    problems = Problems()
    nodes = load(path, problems)
    site = validated(Site, nodes, problems) if nodes is not None else None
    if site is None or problems.errors:
        raise SpecError(problems.found)
    return site
