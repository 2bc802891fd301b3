from __future__ import annotations

import pytest

from quintant.api.batch import Job, JobCondition, JobStatus


@pytest.mark.parametrize(
    ("type", "status", "outcome"),
    [
        ("Complete", "True", "Complete"),
        ("Failed", "True", "Failed"),
        ("Failed", "False", ""),
        ("SuccessCriteriaMet", "True", ""),
        ("Suspended", "True", ""),
    ],
)
def test_a_job_has_an_outcome_once_it_ended(type: str, status: str, outcome: str) -> None:
    conditions = (JobCondition(type=type, status=status),)
    assert Job(status=JobStatus(conditions=conditions)).outcome == outcome


def test_a_new_job_has_no_outcome() -> None:
    assert Job().outcome == ""
