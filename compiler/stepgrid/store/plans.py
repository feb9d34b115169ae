"""Plans in a store: published as a whole, compared with earlier ones, and the ids under which their results lie."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from stepgrid.host.files import make_folder, read_bytes, read_json, write_text
from stepgrid.language.files import digest, record_file
from stepgrid.model.metrics import QPS
from stepgrid.model.plan import Header, Plan, PlannedStage
from stepgrid.model.secret_variables import Secret, is_digest, mask_settings, secret_name, variables_of
from stepgrid.plan import plan_file
from stepgrid.plan.plan_file import DAMAGED, is_intact
from stepgrid.store.paths import TIME_FORMAT, names_in, subfolders
from stepgrid.store.store import Store, write_note

if TYPE_CHECKING:
    from stepgrid.plan.difference import Link


def publish(store: Store, plan: Plan) -> None:
    for secret in secrets(plan):
        store.keep_secret(secret_name(secret), secret.value)
    store.publish_plan(plan.digest, lambda folder: write(plan, folder), is_intact)


def secrets(plan: Plan) -> list[Secret]:
    """List the secrets of a plan that was just compiled; a plan that was read has their digests alone."""
    return [digest for _, digest in secret_digests(plan) if isinstance(digest, Secret)]


def secret_digests(plan: Plan) -> list[tuple[str, str]]:
    """List the variables of a plan that are secrets, with their digests."""
    setups = {id(step.setup): step.setup for stage in plan.stages for step in stage.steps}.values()
    return sorted({pair for setup in setups for pair in variables_of(setup) if is_digest(pair[1])})


def stored_secrets(store: Store, plan: Plan) -> list[tuple[str, str, str]]:
    """List variable, digest and value of the secrets of a plan, as far as their values are here."""
    secrets_here = []
    for name, text in secret_digests(plan):
        with suppress(LookupError):
            secrets_here.append((name, text, store.read_secret(secret_name(text))))
    return secrets_here


def write(plan: Plan, folder: Path) -> None:
    """Write the files of a plan; a folder that is there already has the same plan."""
    if folder.is_dir():
        return
    folder.mkdir(parents=True)
    for name, content in plan_file.texts(plan):
        with (folder / name).open("w", encoding="utf-8") as file:
            file.writelines(content)


class StoredPlan(NamedTuple):
    """A plan as its header describes it; a damaged plan has no spec."""

    folder: Path
    spec: str
    scale: str | None
    machines: Mapping[str, Mapping[str, Any]]  # by id
    time: float  # when it was stored, unix time

    @property
    def digest(self) -> str:
        return self.folder.name

    @property
    def time_name(self) -> str:
        """Name the time as results are named."""
        return datetime.fromtimestamp(self.time, UTC).strftime(TIME_FORMAT)


def stored_plans(store: Store) -> list[StoredPlan]:
    """List all plans, oldest first."""
    plans = []
    for folder in subfolders(store.plan("_").parent):
        header = read_json(folder / plan_file.HEADER)
        spec, time = str(header.get("spec", "")), folder.stat().st_mtime
        plans.append(StoredPlan(folder, spec, header.get("scale"), _machines(header), time))
    return sorted(plans, key=lambda plan: plan.time)


def _machines(header: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Read the machines; an older version named one in `hardware` alone."""
    hardware, machines = header.get("hardware"), header.get("machines")
    if not machines and isinstance(hardware, dict) and "id" in hardware:
        return {str(hardware["id"]): hardware}
    listed = machines.items() if isinstance(machines, dict) else ()
    return {name: facts for name, facts in listed if isinstance(facts, dict)}


def stage_ids(folder: Path) -> list[str]:
    """List the stages of a plan; none where it cannot be read."""
    try:
        return plan_file.stage_ids(folder)
    except (OSError, ValueError):
        return []


def outdate_summaries(store: Store, stages: set[str]) -> None:
    """Have the summaries of all plans that have one of these stages made again; nothing is measured for that.

    A new result is newer than a summary, and shows; one that is taken out, or comes in with its old time, is not."""
    for folder in subfolders(store.plan("_").parent):
        if not stages.isdisjoint(stage_ids(folder)):
            store.drop_stamps(folder.name)


# Earlier plans: what this spec asked for before, and what others ask for now.

MOST_PLANS = 40  # that are looked at, newest first

Place = tuple[frozenset[tuple[str, str]], int, int]  # labels, load, run


@dataclass(frozen=True)  # no slots: cached_property needs a dict
class EarlierPlan:
    """A plan whose parts are read when they are asked for."""

    folder: Path
    header: Header

    @property
    def spec(self) -> tuple[str, str | None]:
        """Name its spec and scale."""
        return self.header.spec, self.header.scale

    @cached_property
    def stages(self) -> frozenset[str]:
        return frozenset(plan_file.stage_ids(self.folder))

    @cached_property
    def builds(self) -> frozenset[str]:
        return frozenset(build.id for build in self.header.builds)

    @cached_property
    def axes(self) -> frozenset[str]:
        return frozenset(axis.name for axis in self.header.axes)

    def axes_of(self, root: str) -> list[str]:
        """List the axes on which the first cell has a point whose stages begin with this one."""
        for cell in self.header.cells:
            if any(repeat.stages[0] == root for repeat in cell.repeats):
                return sorted(cell.labels)
        return []

    def chains(self, axes: frozenset[str]) -> dict[Place, Sequence[str]]:
        """Map each cell and repeat to its chain of stages, by the labels that the cell has on these axes."""
        chains: dict[Place, Sequence[str]] = {}
        for cell in self.header.cells:
            labels = frozenset((axis, label) for axis, label in cell.labels.items() if axis in axes)
            for repeat in cell.repeats:
                chains.setdefault((labels, repeat.load, repeat.run), repeat.stages)
        return chains

    def links(self, chain: Sequence[str]) -> list[Link]:
        """Read a chain of stages in full; empty when an older version wrote them in a way that is not read any more."""
        try:
            return [self._link(node) for node in chain]
        except DAMAGED:
            return []

    @cached_property
    def _link(self) -> Callable[[str], Link]:
        """Read a stage in full, and each of its builds, once."""
        from stepgrid.plan.difference import Link  # not for jobs

        read_build = cache(partial(plan_file.build, self.folder))
        return cache(lambda node: Link.of(plan_file.stage(self.folder, node), read_build))


def earlier_plans(store: Store, plan: Plan) -> list[EarlierPlan]:
    """List all plans but this one, newest first; damaged ones are skipped."""
    plans = []
    for folder in _newest_folders(store):
        with suppress(*DAMAGED):
            earlier = EarlierPlan(folder, plan_file.read_header(folder))
            is_whole = is_intact(folder) and earlier.spec[0] and earlier.axes and earlier.builds and earlier.stages
            if is_whole and folder.name != plan.digest:
                plans.append(earlier)
    return plans


def earlier_headers(store: Store, plan: Plan | Header) -> Iterator[Header]:
    """Read the other plans of a spec, the newest first, each when it is its turn."""
    for folder in _newest_folders(store):
        with suppress(*DAMAGED):  # an older version wrote it
            if folder.name != plan.digest and is_intact(folder):
                header = plan_file.read_header(folder)
                if (header.spec, header.scale) == (plan.spec, plan.scale) and header.stages:
                    yield header


def _newest_folders(store: Store) -> list[Path]:
    folders = [path.parent for path in store.plan("_").parent.glob("[!.]*/plan.json")]
    folders.sort(key=lambda folder: ((folder / plan_file.HEADER).stat().st_mtime, folder.name), reverse=True)
    return folders[:MOST_PLANS]


def plans_of_spec(plans: Sequence[EarlierPlan], plan: Plan) -> list[EarlierPlan]:
    return [earlier for earlier in plans if earlier.spec == (plan.spec, plan.scale)]


def specs_by_node(plans: Sequence[EarlierPlan], plan: Plan) -> dict[str, str]:
    """Map nodes of the newest plans of other specs to such a spec."""
    newest = {earlier.spec: earlier for earlier in reversed(plans) if earlier.spec[0] != plan.spec}
    return {node: spec for (spec, _), earlier in newest.items() for node in (*earlier.stages, *earlier.builds)}


def abandoned_stages(plans: Sequence[EarlierPlan], plan: Plan) -> set[str]:
    """Select stages that this spec had and has no longer, and that no other spec or scale has."""
    newest = {earlier.spec: earlier for earlier in reversed(plans) if earlier.spec != (plan.spec, plan.scale)}
    needed = {stage.id for stage in plan.stages}.union(*(earlier.stages for earlier in newest.values()))
    return {stage for earlier in plans_of_spec(plans, plan) for stage in earlier.stages} - needed


# How far the loads of a cell lie apart, from figures that are stored in their results.

MOST_RESULTS = 200  # that are read: the spread is known well enough by then


def past_figures(store: Store, plan: Plan) -> dict[str, list[Sequence[float]]]:
    """Map each step to the figures of every load that has one, for each cell."""
    figures: dict[str, list[Sequence[float]]] = defaultdict(list)
    budget = MOST_RESULTS
    for cell in plan.cells:
        chains = [repeat.stages for repeat in cell.repeats if repeat.run == 0]
        if len(chains) < 2 or budget < len(chains):
            continue
        budget -= len(chains)
        for step in cell.steps:
            if step.measured and (step.stage > 0 or len(chains[0]) == 1):  # cells share their loads
                stages = [chain[step.stage] for chain in chains]
                values = [value for stage in stages if (value := _figure(store, stage, step.index)) is not None]
                figures[step.name].append(values)
    return dict(figures)


def _figure(store: Store, stage: str, index: int) -> float | None:
    """Read the figure of a step from the newest reading of the result."""
    result = store.result(stage)
    paths = result.glob("figures.*.json") if result else ()
    for path in sorted(paths, key=lambda path: path.stat().st_mtime, reverse=True):
        try:
            value = json.loads(path.read_text(encoding="utf-8"))["body"]["steps"][index]["metrics"].get(QPS)
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            continue  # by an earlier version
        return float(value) if isinstance(value, int | float) and value > 0 else None
    return None


# Results under earlier ids: ids have not always had the contents of files, and had what is read of the output.
# Such a result does not say with which contents it was made: those that a run finds first count as its own. Once a
# stage is found under an earlier id, that is noted, so that a change of what is read of its output does not lose it.


class StoredIds:
    """Ids under which the results of stages lie; the folders of the store are listed once for all stages."""

    def __init__(self, store: Store) -> None:
        self._store, self._folder = store, str(store.contents("_").parent)  # as text: ten thousand are looked up
        self._notes, self._stages_with_results = names_in(self._folder), names_in(store.results_of("_").parent)

    def choose(self, today: str, earlier: Sequence[str], contents: Mapping[str, str]) -> str:
        """Choose the id under which the results of a stage lie."""
        if text := self._read_note(f"{today}.id"):
            # a lost result keeps its id: else all that comes after it would have another one as well
            node = text.decode(errors="replace")
            return node if self._stands_for(node, contents, True) else today
        for node in earlier:
            has_results = node in self._stages_with_results and bool(self._store.results(node))
            if self._stands_for(node, contents, has_results):
                return node
        return today

    def _stands_for(self, stage: str, contents: Mapping[str, str], unrecorded: bool) -> bool:
        """Tell whether results under this id count for these contents; `unrecorded`: where no note of them exists."""
        text = self._read_note(f"{stage}.json")
        if text is None:
            return unrecorded
        try:
            checksums = json.loads(text)
            return checksums.keys() <= contents.keys() and all(contents[name] == checksums[name] for name in checksums)
        except (ValueError, AttributeError):
            return unrecorded

    def _read_note(self, name: str) -> bytes | None:
        path = f"{self._folder}/{name}"
        if name in self._notes:
            return read_input(Path(path))
        record_file(path, None)
        return None


def note_contents(store: Store, stages: Iterable[PlannedStage]) -> None:
    """Note under which id and with which contents results lie; what is noted stays, missing names are added."""
    for stage in stages:
        if stage.todays and not store.earlier_id(stage.todays).exists():
            make_folder(store.earlier_id(stage.todays).parent)
            write_text(store.earlier_id(stage.todays), stage.id)
        contents, path = stage.contents, store.contents(stage.id)
        if contents and store.results(stage.id):
            checksums = read_json(path)
            if checksums.keys() < contents.keys():
                write_note(path, {**contents, **checksums})


def read_input(path: Path) -> bytes | None:
    """Read a note that a plan depends on: one that was compiled before holds while this stays as it is."""
    try:
        text = read_bytes(path)
    except OSError:
        text = None
    record_file(str(path), text)
    return text


# Requests: the words that a plan was made for


class Request(NamedTuple):
    spec: str
    scale: str | None = None
    only: str | None = None
    sets: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        return digest(json.dumps(self).encode())[:20]

    def words(self, site: str | None = None) -> list[str]:
        """Return the words of a command line for the same spec, scale, cells and values."""
        options = {"--scale": self.scale, "--only": self.only, "--site": site}
        words = [word for name, value in options.items() if value is not None for word in (name, value)]
        return [self.spec, *words, *(word for text in self.sets for word in ("--set", text))]


class StoredRequest(NamedTuple):
    key: str
    plan: str  # the digest
    request: Request | None  # None: an older version stored its key alone


def requests(store: Store) -> Iterator[StoredRequest]:
    """List all requests that were ever run here."""
    for path in sorted(store.request_note("_").parent.glob("[!.]*.json")):
        record = read_json(path)
        with suppress(KeyError, IndexError, ValueError, TypeError):
            request = None
            if record.get("request") is not None:
                spec, scale, only, sets = record["request"]
                request = Request(spec, scale, only, tuple(sets))
            yield StoredRequest(path.stem, str(record["plan"][0]), request)


def newest_request(store: Store, plan: Plan | Header) -> Request | None:
    """Return the last request that came to a plan, its secrets hidden; None for plans that came here with results."""
    notes = [stored for stored in requests(store) if stored.plan == plan.digest and stored.request]
    newest = max(notes, key=lambda stored: _modification_time(store.request_note(stored.key)), default=None)
    return newest.request._replace(sets=mask_settings(newest.request.sets)) if newest and newest.request else None


def _modification_time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # removed in the meantime
        return 0.0
