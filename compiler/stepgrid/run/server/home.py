"""Where the server of a stage lives: its database, its folder in the attempt, its socket, its password."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

from stepgrid.host.processes.supervision import User
from stepgrid.model.plan import PlannedStage
from stepgrid.plugins import registry
from stepgrid.plugins.server import Access, ServerEngine, ServerHome
from stepgrid.run.job_context import Job

FOLDER = "server"  # in the attempt's
SCRATCH = "scratch"  # beside the database
PLACES = ("basedir", "system tables")  # facts of a build record that name folders of the build


def home(
    job: Job, stage: PlannedStage, engine: ServerEngine, data: Path, folder: Path, sockets: Path, user: User | None
) -> ServerHome:
    build = job.build
    storage = storage_engine(build.engine, stage)
    reached = Access(
        build.engine,
        sockets,
        sockets / engine.socket,
        engine.port,
        engine.user,
        secrets.token_hex(16),
        engine.database,
        storage,
    )
    scratch = data.with_name(SCRATCH)
    account = user.name if user and user.inside else ""  # the namespace's name for root
    return ServerHome(job.programs, str(job.record["version"]), data, folder, reached, scratch, _places(job), account)


def storage_engine(engine: str, stage: PlannedStage) -> str:
    return str(stage.steps[0].setup.get("storage_engine") or registry.engine(engine).default_storage_engine)


def _places(job: Job) -> Mapping[str, Path]:
    folder = job.store.build(job.stage.build).resolve()
    facts = job.record.get("facts") or {}
    return {name: folder / str(facts[name]) for name in PLACES if facts.get(name)}
