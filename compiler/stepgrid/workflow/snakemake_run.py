"""Snakemake in this process: by its API with the settings of profiles/default, or by its command line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from snakemake.api import (
    ConfigSettings,
    DAGSettings,
    ExecutionSettings,
    OutputSettings,
    ResourceSettings,
    SharedFSUsage,
    SnakemakeApi,
    StorageSettings,
)
from snakemake.scheduling.greedy import SchedulerSettings
from snakemake.settings.enums import Quietness, RerunTrigger
from snakemake.settings.types import SchedulingSettings
from snakemake.utils import available_cpu_count
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

from stepgrid.package import SNAKEFILE
from stepgrid.store.redo_requests import name_user

LOGGER = "stepgrid"


def execute(config: Mapping[str, Any]) -> bool:
    """Whether all jobs went well."""
    output = OutputSettings(
        quiet={Quietness.HOST, Quietness.REASON},
        log_handler_settings={LOGGER: LogHandlerSettingsBase()},
    )
    name_user()
    with SnakemakeApi(output) as snakemake:
        try:
            _execute(snakemake, config)
        except Exception as error:
            snakemake.print_exception(error)
            return False
    return True


def _execute(snakemake: SnakemakeApi, config: Mapping[str, Any]) -> None:
    workflow = snakemake.workflow(
        resource_settings=ResourceSettings(cores=available_cpu_count()),
        config_settings=ConfigSettings(config=config),
        storage_settings=StorageSettings(shared_fs_usage=SharedFSUsage.all() - {SharedFSUsage.SOURCE_CACHE}),
        snakefile=snakefile(),
    )
    dag = workflow.dag(DAGSettings(force_incomplete=True, rerun_triggers={RerunTrigger.MTIME}))
    dag.execute_workflow(
        execution_settings=ExecutionSettings(keep_going=True, lock=False),
        scheduling_settings=SchedulingSettings(scheduler="greedy"),  # and no limit of jobs per second
        scheduler_settings=SchedulerSettings(),
    )


def command_line(config: Sequence[str], more: Sequence[str]) -> int:
    """Its exit status, where somebody gives options of Snakemake's own."""
    from snakemake import cli

    name_user()
    try:
        cli.main(["--snakefile", str(snakefile()), "--config", *config, *more])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def snakefile() -> Path:
    return Path(os.path.relpath(SNAKEFILE))
