"""Snakemake in a job of a cluster: it reads the Snakefile again, and must see the plan of the run that started it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stepgrid.errors import FAILED
from stepgrid.host import cluster_job
from stepgrid.host.files import retry_stale
from stepgrid.plan import plan_file
from stepgrid.workflow import host_plan
from stepgrid.workflow.remaining_work import RemainingWork, job_work
from stepgrid.workflow.run_request import Fault, compiled, request, use_site


def leaves_host(workflow: Any) -> bool:
    """Snakemake tells a Snakefile nothing of its executor yet; default resources are for jobs that run elsewhere."""
    return workflow.resource_settings.default_resources is not None


def remote_work(config: Mapping[str, Any]) -> RemainingWork:
    cluster_job.use_in_job()
    use_site(config)
    store, digest = host_plan.store(), cluster_job.plan()
    if digest is None:  # an executor that leaves the environment behind
        return job_work(compiled(*request(config)), store)
    try:
        return job_work(retry_stale(lambda: plan_file.read(store.plan(digest))), store)
    except (OSError, ValueError, KeyError) as error:
        folder = store.plan(digest).absolute()
        raise Fault(
            f"this node does not see the plan of the run ({folder}: {error}): is the folder shared?", FAILED
        ) from None
