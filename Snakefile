# snakemake --config spec=specs/quickstart.yaml [scale=NAME] [site=FILE]       (stepgrid run SPEC is the same in one line)
import sys

sys.path.insert(0, f"{workflow.current_basedir}/compiler")

from stepgrid.host.processes import signals
from stepgrid.host.terminal_output import folded, open_streams
from stepgrid.store.stage_requests import name_user
from stepgrid.workflow.snakemake import explain_forcing, mark_folder, refuse_module, tolerate_lost_notes

signals.exit_on_signals()
signals.guard_folder(workflow.snakemake_tmp_dir)
open_streams()
name_user()
mark_folder(workflow.snakemake_tmp_dir)

from snakemake.logging import logger

from stepgrid.language.site import current_site as of_environment
from stepgrid.pipeline import remaining_work
from stepgrid.store.store import revision
from stepgrid.workflow.hooks import Hooks
from stepgrid.workflow.run_request import Refusal, own_section
from stepgrid_slurm import JobResources, leaves_host, remote_work

try:
    refuse_module(workflow)
    request, dry = own_section(config), workflow.output_settings.dryrun
    work = remote_work(request) if workflow.remote_exec else remaining_work(request, dry, leaves_host(workflow))
    jobs = JobResources(work, of_environment().slurm, workflow.remote_exec).checked()
except Refusal as refusal:
    print(folded(str(refusal), sys.stderr), file=sys.stderr)
    sys.exit(refusal.status)

JOB = {
    "python": sys.executable,
    "plan": work.plan.digest,
    "revision": revision(),  # of the code that makes the summary, as this run found it
    "quietly": "trap '' INT;",  # Ctrl-C reaches the jobs too, but what ends them is the SIGTERM of our hooks: no traceback
}
SOFTWARE = f"{workflow.current_basedir}/workflow/envs/stepgrid.yaml"  # for --software-deployment-method conda
hooks = Hooks(work, request)
if not workflow.remote_exec and (sentence := explain_forcing(sys.argv, request)):
    print(folded(sentence, sys.stderr), file=sys.stderr)
if work.is_over:  # the logger of profiles/default says so, unless there are jobs all the same
    logger.info(None, extra={"stepgrid_answer": work.nothing_to_do})


onstart:
    workflow.scheduler.job_rate_limiter = None  # with one it looks again and again, by timers, while jobs wait
    tolerate_lost_notes(workflow.persistence)
    hooks.start(jobs.waiting)


onsuccess:
    hooks.success()


onerror:
    hooks.error()


localrules:
    all,
    summarize,


rule all:
    input:
        work.targets,
    message:
        "all that the plan asks for"


rule build:
    output:
        f"{work.marks}/builds/{{build,[^/]+}}",
    log:
        f"{work.marks}/log/{{build}}",
    params:
        **JOB,
        id=lambda wildcards: work.names[wildcards.build],
    conda:
        SOFTWARE
    message:
        "build {wildcards.build}"
    resources:
        **jobs.of_builds,
    priority: 1  # all builds before any stage: else the blocks of the order could not be complete
    shell:
        "{params.quietly} STEPGRID_PARENT=$PPID STEPGRID_MARK={output:q} STEPGRID_LOG={log:q}"
        " exec {params.python:q} -P -m stepgrid.pipeline build {params.plan} {params.id}"


rule run:
    input:
        lambda wildcards: [ancient(mark) for mark in work.required_marks(work.names[wildcards.stage])],
    output:
        f"{work.marks}/stages/{{stage,[^/]+}}",
    log:
        f"{work.marks}/log/{{stage}}",
    params:
        **JOB,
        id=lambda wildcards: work.names[wildcards.stage],
    conda:
        SOFTWARE
    message:
        "measure {wildcards.stage}"
    threads: workflow.cores  # a measured stage has the host to itself
    resources:
        **jobs.of_stages,
    priority: lambda wildcards: -work.rank(work.names[wildcards.stage])
    shell:
        "{params.quietly} STEPGRID_PARENT=$PPID STEPGRID_MARK={output:q} STEPGRID_LOG={log:q}"
        " exec {params.python:q} -P -m stepgrid.pipeline run-stage {params.plan} {params.id}"


rule summarize:
    input:
        work.evidence,
    output:
        work.products.tables,
        *work.products.stamps,
        text=report(work.products.text, category="Results", labels={"results": "summary"}),
        page=report(work.products.page, category="Results", labels={"results": "page with charts"}),
    log:
        f"{work.marks}/log/summarize",
    params:
        **JOB,
    conda:
        SOFTWARE
    message:
        "collect the tables and summarize"
    shell:
        "{params.quietly} STEPGRID_REVISION={params.revision} exec {params.python:q} -P -m stepgrid.pipeline report {params.plan}"
        " 2> >(tee {log:q} >&2)"
