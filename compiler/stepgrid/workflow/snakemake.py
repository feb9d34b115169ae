"""Snakemake in this process, by its API or its command line, and its own notes and temporary folders."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from glob import glob
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from stepgrid.errors import USAGE
from stepgrid.host import files
from stepgrid.package import PROFILES, SNAKEFILE
from stepgrid.store.stage_requests import name_user
from stepgrid.workflow.run_request import (
    Refusal,
    own_section,
    plan_request,
    requested_plan,
    site_in_use,
    use_words,
)

LOGGER = "stepgrid"
OWNER = ".stepgrid."  # begins the name of a file in Snakemake's temporary folder; the process that uses it ends it


def execute(config: Mapping[str, object]) -> bool:
    """Run all jobs with the settings of profiles/default; return whether they went well."""
    from snakemake import api
    from snakemake.scheduling.greedy import SchedulerSettings
    from snakemake.settings.enums import Quietness, RerunTrigger
    from snakemake.settings.types import SchedulingSettings
    from snakemake.utils import available_cpu_count
    from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

    output = api.OutputSettings(
        quiet={Quietness.HOST, Quietness.REASON},
        log_handler_settings={LOGGER: LogHandlerSettingsBase()},
    )
    file_systems = api.SharedFSUsage.all() - {api.SharedFSUsage.SOURCE_CACHE}
    name_user()
    with api.SnakemakeApi(output) as snakemake:
        try:
            workflow = snakemake.workflow(
                resource_settings=api.ResourceSettings(cores=available_cpu_count()),
                config_settings=api.ConfigSettings(config=config),
                storage_settings=api.StorageSettings(shared_fs_usage=file_systems),
                snakefile=_snakefile(),
            )
            dag = workflow.dag(api.DAGSettings(force_incomplete=True, rerun_triggers={RerunTrigger.MTIME}))
            dag.execute_workflow(
                execution_settings=api.ExecutionSettings(keep_going=True, lock=False),
                scheduling_settings=SchedulingSettings(scheduler="greedy"),  # and no limit of jobs per second
                scheduler_settings=SchedulerSettings(),
            )
        except Exception as error:
            snakemake.print_exception(error)
            return False
    return True


def run_command_line(config: Sequence[str], words: Sequence[str]) -> int:
    """Run Snakemake with options of its own, and return its exit status."""
    from snakemake import cli

    name_user()
    try:
        # else a `profiles/default` of the current folder comes first, whose expressions Snakemake evaluates
        profile = ["--workflow-profile", str(PROFILES / "default")]
        cli.main(["--snakefile", str(_snakefile()), *profile, "--config", *config, *words])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def _snakefile() -> Path:
    return Path(os.path.relpath(SNAKEFILE))


def refuse_module(workflow: Any) -> None:
    """Refuse to be a module of another workflow: of its handlers Snakemake calls none, so the run has no lock."""
    if not workflow.modifier.is_main_snakefile():
        message = (
            "this Snakefile cannot be a module: use `workflow/Snakefile`, which `stepgrid snakefile --module` prints"
        )
        raise Refusal(message, USAGE)


class ModuleRule(NamedTuple):
    """A spec as one rule of another workflow."""

    spec: str
    name: str
    words: str
    until: str
    plan: str


def module_rule(config: Mapping[str, object]) -> ModuleRule:
    """Compile the spec that the config of a module names; a wrong one ends the workflow."""
    from snakemake.exceptions import WorkflowError

    try:
        section = own_section(config)
        use_words(section)
        request = plan_request(section)
        plan = requested_plan(request, site_in_use(), is_stored=False)
    except Refusal as fault:
        raise WorkflowError(str(fault)) from None
    site = None if section.get("site") is None else str(section["site"])
    until = shlex.join(["--until", str(section["until"])]) if section.get("until") else ""
    return ModuleRule(request.spec, Path(request.spec).stem, shlex.join(request.words(site)), until, plan.digest)


def explain_forcing(words: Sequence[str], config: Mapping[str, object]) -> str:
    """Say that a command line with `-R run` or `-F` measures no result again, and what does; empty for any other."""
    for position, word in enumerate(words):
        targets = [*takewhile(lambda target: not target.startswith("-"), words[position + 1 :])]
        is_forcing_runs = word in ("-R", "--forcerun") and "run" in targets
        if is_forcing_runs or word in ("-F", "--forceall"):
            option = f"{word} run" if is_forcing_runs else word
            scale = ["--scale", str(config["scale"])] if config.get("scale") is not None else []
            command = shlex.join(["stepgrid", "redo", str(config["spec"]), *scale])
            return f"`{option}` measures nothing that has a result: ask for it by `{command}`, then run again"
    return ""


def mark_folder(folder: Path) -> None:
    """Remove temporary folders of runs that were killed, and mark this one's."""
    parent = Path(tempfile.gettempdir())
    # Unlike Path.glob it survives folders that vanish meanwhile.
    for name in glob(f"snakemake*/{OWNER}*", root_dir=parent):  # noqa: PTH207
        mark = parent / name
        process = mark.name.removeprefix(OWNER)
        with suppress(FileNotFoundError):  # of a run that ends just now
            if mark.lstat().st_uid == os.getuid() and files.has_dead_owner(process):
                shutil.rmtree(mark.parent, ignore_errors=True)
    with suppress(OSError):
        (folder / f"{OWNER}{files.temporary_suffix()}").touch()


def tolerate_lost_notes(persistence: Any) -> None:
    """Let a run go on where Snakemake cannot write its notes on jobs, which nothing of ours needs."""
    started, finished, cleanup = persistence.started, persistence.finished, persistence.cleanup

    def register(job: Any, external_jobid: str | None = None) -> None:
        with _cleanup_on_error(cleanup, job):
            started(job, external_jobid)

    async def finish(job: Any) -> None:
        with _cleanup_on_error(cleanup, job):
            await finished(job)

    persistence.started, persistence.finished = register, finish


@contextmanager
def _cleanup_on_error(cleanup: Callable[[Any], None], job: Any) -> Iterator[None]:
    """Remove half a note: it would be a warning in the next run."""
    try:
        yield
    except OSError:
        with suppress(OSError):
            cleanup(job)
