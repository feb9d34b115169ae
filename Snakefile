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
from stepgrid.workflow.cluster import JobResources, leaves_host, remote_work
from stepgrid.workflow.hooks import Hooks
from stepgrid.workflow.run_request import Fault, own_section

try:
    refuse_module(workflow)
    request, dry = own_section(config), workflow.output_settings.dryrun
    work = remote_work(request) if workflow.remote_exec else remaining_work(request, dry, leaves_host(workflow))
    jobs = JobResources(work, of_environment().slurm, workflow.remote_exec).checked()
except Fault as fault:
    print(folded(str(fault), sys.stderr), file=sys.stderr)
    sys.exit(fault.status)

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
    collect,
    summarize,


rule all:
    input:
        work.targets,
    message:
        "all that the plan asks for"


include: "rules/build.smk"
include: "rules/run.smk"
include: "rules/collect.smk"
include: "rules/summarize.smk"
