from __future__ import annotations

from pathlib import Path

import pytest

PROFILE = Path(__file__).resolve().parents[2] / "profiles/default/config.yaml"


@pytest.mark.integration
def test_no_timer_of_snakemake_outlives_the_last_job() -> None:
    from ruamel.yaml import YAML
    from snakemake.settings.types import MaxJobsPerTimespan

    given = YAML(typ="safe").load(PROFILE)["max-jobs-per-timespan"]
    limit = MaxJobsPerTimespan.parse_choice(given)
    assert (limit.timespan, limit.max_jobs >= 1000) == (0, True)
