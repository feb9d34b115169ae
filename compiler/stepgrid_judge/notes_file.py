"""notes.yaml: what persons concluded of changes, read with the place of each fault."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

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
    notes: list[NoteEntry] = Field(max_length=MOST_NOTES)


def read_notes(path: Path, problems: Problems) -> list[Note]:
    """Read all notes of a file, or none and what is wrong with it."""
    own_problems = Problems()
    nodes = load(str(path), own_problems)
    entries = validate(NotesFile, nodes, own_problems)[0] if nodes else None
    notes = [*_notes(entries.notes, path, own_problems)] if entries else []
    for problem in own_problems.items:
        problems.append(problem)
    return [] if own_problems.errors else notes


def _notes(entries: Sequence[NoteEntry], path: Path, problems: Problems) -> Iterator[Note]:
    for entry in entries:
        where = entry.version.where
        texts = {kind: text for kind in CONCLUSIONS if (text := getattr(entry, kind)) is not None}
        if len(texts) != 1:
            choices, words = ", ".join(f"`{kind}`" for kind in CONCLUSIONS), " and ".join(f"`{kind}`" for kind in texts)
            message = f"expected one of {choices}, found {words or 'none of them'}"
            problems.add("not-both" if texts else "missing-key", where, message, width=len(entry.version))
            continue
        ((kind, text),) = texts.items()
        sentence = "".join(letter if letter.isprintable() else "?" for letter in str(text)[:LONGEST])
        conclusion = Conclusion(kind, sentence, f"{path.name}:{where.line}")
        labels = {axis: str(label) for axis, label in entry.where.items()}
        yield Note(str(entry.version), conclusion, str(entry.step or ""), str(entry.metric or ""), labels, where)
