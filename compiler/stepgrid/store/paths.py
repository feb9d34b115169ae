"""Every path under outputs/ and the data folder, and what is there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from stepgrid.store.folders import below, own_name

STAMP = "made-by-"
RETRACTED = "retracted.json"  # in a result that counts no more
UNDONE = "undone.json"  # in a result that counts again: which retractions were undone
IMPORTED = "imported.json"  # in a result that another checkout measured: who signed it


class StorePaths:
    """`data`: where databases are, in use and as images, for every checkout in a folder of its own."""

    def __init__(self, root: Path | str = "outputs", data: Path | str | None = None) -> None:
        self.root = Path(root)
        self.data = self.root if data is None else Path(data) / own_name(self.root)

    def plan(self, digest: str) -> Path:
        return self.root / "plans" / digest

    def remembered(self, request: str) -> Path:
        """Which plan a request came to, and what that depends on. Hidden: it is no plan."""
        return self.root / "plans" / ".requests" / f"{request}.json"

    def shown_warnings(self, spec: str) -> Path:
        """Which warnings of a spec a person has seen, and on which day."""
        return self.root / "plans" / ".shown" / f"{spec}.json"

    def texts(self, plan: str) -> Path:
        """What a plan that came here with results was compiled from."""
        return self.plan(plan) / "texts"

    def build(self, build: str) -> Path:
        return self.root / "builds" / build

    def build_record(self, build: str) -> Path:
        """The folder of its build.json; of one that was made elsewhere that is all there is. Hidden: it is no build."""
        return self.build(build) if self.has_build(build) else self.records() / build

    def records(self) -> Path:
        """Of builds that were made elsewhere."""
        return self.root / "builds" / ".records"

    def results(self, stage: str) -> list[Path]:
        """Complete results of a stage that nobody took out, oldest first."""
        return [each for each in self.all_results(stage) if not os.path.exists(f"{each}/{RETRACTED}")]  # noqa: PTH110

    def all_results(self, stage: str) -> list[Path]:
        """With those that were retracted."""
        # by os.path, as every command looks at those of ten thousand stages
        return [each for each in below(self.results_of(stage)) if os.path.isfile(f"{each}/result.json")]  # noqa: PTH113

    def results_of(self, stage: str) -> Path:
        return self.root / "results" / stage

    def attempts(self, node: str) -> list[Path]:
        """Attempts of a stage or build that are no result: running, failed, interrupted; oldest first."""
        return below(self.attempts_of(node))

    def attempts_of(self, node: str) -> Path:
        return self.root / "attempts" / node

    def image(self, stage: str) -> Path:
        return self.data / "images" / stage

    def live(self, stage: str) -> Path:
        return self.data / "live" / f"{stage}.{os.getpid()}"

    def folders(self, kind: str) -> list[Path]:
        """Where there may be some: images and live databases stay where they were when the site file changes."""
        return list(dict.fromkeys((self.root / kind, self.data / kind)))

    def learnt(self, shape: str) -> Path:
        """How large databases became that were made alike."""
        return self.root / "learnt" / f"{shape}.json"

    def bisect(self, search: str) -> Path:
        """What `stepgrid bisect` has decided, and its report."""
        return self.root / "bisect" / search

    def cache(self, kind: str) -> Path:
        """What the clients of a kind of step derive once for all stages: made again where it is missing."""
        return self.root / "cache" / kind

    def contents(self, stage: str) -> Path:
        """Of the files that its commands read, where its id has none."""
        return self.root / "contents" / f"{stage}.json"

    def earlier_id(self, stage: str) -> Path:
        """Of a stage by today's id: the one under which its results lie."""
        return self.root / "contents" / f"{stage}.id"

    def known_checksums(self) -> Path:
        """Of files that specs name: a cache. Hidden: it is no plan."""
        return self.root / "plans" / ".checksums.json"

    def asked(self, stage: str) -> Path:
        """Who wants it measured again, and why."""
        return self.root / "asked" / f"{stage}.json"

    def load_request(self, stage: str) -> Path:
        """How many loads were asked for of the cell whose first load ends with this stage."""
        return self.root / "loads" / f"{stage}.json"

    def lock(self, name: str) -> Path:
        return self.root / "locks" / name

    def mark(self, node: str) -> Path:
        return self.root / "marks" / node

    def summary(self, plan: str) -> Path:
        return self.root / "summary" / plan

    def tables(self, plan: str) -> Path:
        return self.summary(plan) / "tables"

    def charts(self, plan: str) -> Path:
        """Drawn before: a cache."""
        return self.summary(plan) / "charts.json"

    def verdicts(self, plan: str) -> Path:
        """Verdicts and claims as the report has them, and which code said so."""
        return self.summary(plan) / "verdicts.json"

    def stamps(self, plan: str, revision: str) -> tuple[Path, Path]:
        """There when a plan's tables, and the report of these tables, were made by this revision of the code."""
        return self.tables(plan) / f"{STAMP}{revision}", self.summary(plan) / f"{STAMP}{revision}"

    def result(self, stage: str) -> Path | None:
        """The newest complete result."""
        return next(reversed(self.results(stage)), None)

    def has_build(self, build: str) -> bool:
        return (self.build(build) / "build.json").is_file()

    def has_record_alone(self, build: str) -> bool:
        """It was made elsewhere: its results came here, its programs did not."""
        return not self.has_build(build) and self.build_record(build).is_dir()

    def has_plan(self, digest: str) -> bool:
        """It is published by rename, so that it is whole or not there."""
        return (self.plan(digest) / "plan.json").is_file()

    def leftovers(self) -> Iterator[tuple[str, Path]]:
        """(owner, folder) of every live database and unfinished image: the stage whose job made it."""
        found = [folder for parent in self.folders("live") for folder in below(parent)]
        found += [folder for parent in self.folders("images") for folder in below(parent, hidden=True)]
        for folder in found:
            stage, _, process = folder.name.removeprefix(".").rpartition(".")
            if stage and process.isdecimal():
                yield stage, folder

    def unwritable(self) -> Path | None:
        """A folder that results, marks or reports could not be put into."""
        folders = [self.root, *below(self.root)] if self.root.exists() else []
        if self.data != self.root:
            folders += [self.data, *below(self.data)] if self.data.exists() else [self.data.parent]
        return next((folder for folder in folders if not os.access(folder, os.W_OK | os.X_OK)), None)
