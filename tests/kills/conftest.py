"""Kill tests: of Snakemake with jobs that sleep, of runs of a real engine, of builds, clients and servers."""

from tests.integration.conftest import depot, lab, server_builds
from tests.rules.conftest import checkout, finished, until, whole_run

__all__ = ["checkout", "depot", "finished", "lab", "server_builds", "until", "whole_run"]
