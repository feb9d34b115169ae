"""The runner with one more step kind and engine: steps are Python programs, run as real processes.

A script, not a module of tests: python trial.py PLAN STAGE is like python -m stepgrid.pipeline run-stage PLAN STAGE.
"""

import sys
from importlib.metadata import EntryPoint

from stepgrid.model.figures import Figures, ParseError
from stepgrid.model.plan import Command
from stepgrid.plugins.registry import DRIVERS, ENGINES
from stepgrid_databases.engines.rocksdb import ENGINE as ROCKSDB


class TrialDriver:
    kind = "trial"
    revision = 1
    parser = 1

    def seed_key(self, settings):
        return "trial"

    def estimate(self, settings):
        return float(settings.get("estimate", 0.0))

    def command(self, settings, options, context):
        options_text = [f"--{name}={value}" for name, value in options.items()]
        program = context.programs[settings.get("program", "python")]
        argv = (*program, "-c", settings["code"], str(context.data), *options_text)
        env = {"TRIAL": str(context.seed), **({"CLIENT": context.client_version} if context.client_version else {})}
        files, secrets = settings.get("files", {}), tuple(settings.get("secrets", ()))
        return Command(argv, env, settings.get("duration"), files=files, secrets=secrets)

    def parse(self, folder, settings):
        expected = settings.get("expect", "")
        if expected not in (folder / "stdout").read_text():
            raise ParseError(f"stdout has no line with {expected!r}")
        return Figures({})


class TrialEngine:
    name = "trial"
    programs = ("python",)
    kinds = ("trial",)
    immutable = ("*.sst",)
    booleans, counts_choices, value_fault = ROCKSDB.booleans, ROCKSDB.counts_choices, ROCKSDB.value_fault


DRIVER, ENGINE = TrialDriver(), TrialEngine()


def register():
    sys.modules["trial"] = sys.modules[__name__]
    DRIVERS.points["trial"] = EntryPoint("trial", "trial:DRIVER", DRIVERS.group)
    ENGINES.points["trial"] = EntryPoint("trial", "trial:ENGINE", ENGINES.group)


if __name__ == "__main__":
    from stepgrid import pipeline

    register()
    sys.exit(pipeline.main(["run-stage", *sys.argv[1:]]))
