"""notes.yaml: what persons concluded of changes, read with the place of each fault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field

from stepgrid.language.problems import Problems
from stepgrid.language.validation import Label, Model, validate
from stepgrid.language.yaml import load
from stepgrid.summarize.comparisons.comparison import CONCLUSIONS, Conclusion
from stepgrid_judge.memory import Note

MOST_NOTES, LONGEST = 5_000, 200


class NoteEntry(Model):
    """One conclusion about a series from a release on."""

    version: Label = Field(description="a version, the name of a build, or the beginning of a commit")
    step: Label | None = Field(None, description="of which series; all, where it is left out")
    metric: Label | None = None
    where: dict[str, Label] = Field({}, description="axis -> label")
    accepted: Label | None = Field(None, description="why it stays: a gate lets it pass")
    noise: Label | None = Field(None, description="why it is none")
    bug: Label | None = Field(None, description="its number or address")


class NotesFile(Model):
    notes: Annotated[list[NoteEntry], Field(max_length=MOST_NOTES)]


def read(path: Path, problems: Problems) -> Iterator[Note]:
    nodes = load(str(path), problems)
    entries = validate(NotesFile, nodes, problems)[0] if nodes else None
    for entry in entries.notes if entries else ():
        where = entry.version.where
        texts = {kind: text for kind in CONCLUSIONS if (text := getattr(entry, kind)) is not None}
        if len(texts) != 1:
            words, choices = (" and ".join(f"`{kind}`" for kind in kinds) for kinds in (texts, CONCLUSIONS))
            message = f"expected one of {choices}, found {words or 'none of them'}"
            problems.add("not-both" if texts else "missing-key", where, message, width=len(entry.version))
            continue
        ((kind, text),) = texts.items()
        shown = "".join(letter if letter.isprintable() else "?" for letter in str(text)[:LONGEST])
        conclusion = Conclusion(kind, shown, f"{path.name}:{where.line}")
        labels = {axis: str(label) for axis, label in entry.where.items()}
        yield Note(str(entry.version), conclusion, str(entry.step or ""), str(entry.metric or ""), labels, where)
