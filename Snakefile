# snakemake --config spec=specs/quickstart.yaml [scale=NAME] [site=FILE]       (stepgrid run SPEC is the same in one line)
import sys

sys.path.insert(0, f"{workflow.basedir}/compiler")

from stepgrid.host.processes import exit_signals
from stepgrid.workflow import snakemake_metadata

exit_signals.at_once()
exit_signals.guard(workflow.snakemake_tmp_dir)

from snakemake.logging import logger

from stepgrid.store.code_revision import revision
from stepgrid.workflow.run_request import Fault, work_of
from stepgrid.workflow.snakemake_hooks import Hooks

try:
    work = work_of(config, workflow.output_settings.dryrun)
except Fault as fault:
    print(fault, file=sys.stderr)
    sys.exit(fault.status)

PYTHON, PLAN = sys.executable, work.plan.digest
REVISION = f"STEPGRID_REVISION={revision()}"  # of the code that makes the summary, as this run found it
QUIETLY = "trap '' INT;"  # Ctrl-C reaches the jobs too, but what ends them is the SIGTERM of our hooks: no traceback
hooks = Hooks(work, config)
if work.is_over:  # the logger of profiles/default says so, unless there are jobs all the same
    logger.info(None, extra={"stepgrid_answer": work.nothing_to_do})


onstart:
    workflow.scheduler.job_rate_limiter = None  # with one it looks again and again, by timers, while jobs wait
    snakemake_metadata.spare(workflow.persistence)
    hooks.start()


onsuccess:
    hooks.success()


onerror:
    hooks.error()


rule all:
    input:
        work.targets,
    message:
        "all that the plan asks for"


include: "rules/build.smk"
include: "rules/run.smk"
include: "rules/collect.smk"
include: "rules/summarize.smk"
