"""Carries out a step of a StatefulJob: the old volume goes, the next one and its job are made."""

from __future__ import annotations

from quintant.core.errors import ApiError, Conflict
from quintant.core.text import one_line
from quintant.operators.cosmos.stateful_job.plan import JobStep
from quintant.runtime.cache.client import Client


async def act(client: Client, step: JobStep) -> str:
    """Do what a step says, up to the first refusal; what the server answered then."""
    try:
        if step.remove is not None:
            await client.delete(step.remove)
        for wanted in step.create:
            await client.create(wanted)
    except Conflict:
        raise
    except ApiError as error:
        return one_line(error.message)
    return ""
