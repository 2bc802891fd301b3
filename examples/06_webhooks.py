"""Webhooks: changes are judged, and amended, before they are stored.

On a laptop, the program signs a certificate of its own and registers itself at the API server:

    quintant run examples/06_webhooks.py --install-crds --webhook-url https://127.0.0.1:9443
"""

from typing import Annotated

from msgspec import Meta

from quintant import Context, Custom, Manager, Model, errors, replace, resource
from quintant.runtime.webhook import Admission, Allowed, Verdict, invalid

AUTHOR = "demo.dev/created-by"


class TopicSpec(Model):
    partitions: Annotated[int, Meta(ge=1)]
    """How many there are; they can only become more."""
    retention_hours: Annotated[int, Meta(ge=0)] | None = None
    """How long messages are kept."""


class TopicStatus(Model):
    partitions: int | None = None
    """How many there are by now."""


@resource(group="demo.dev", version="v1", status=True)
class Topic(Custom[TopicSpec, TopicStatus]):
    """A topic of a message broker."""


async def sign(topic: Topic, admission: Admission) -> Topic:
    """Note who asked for a topic; nobody can sign for somebody else."""
    noted = {**topic.metadata.annotations, AUTHOR: admission.user.username}
    return replace(topic, metadata=replace(topic.metadata, annotations=noted))


async def check(old: Topic | None, new: Topic | None, admission: Admission) -> Verdict:
    """Partitions can be added and never taken away: what is in them would be lost."""
    if new is None:
        return None
    if old and new.spec.partitions < old.spec.partitions:
        why = f"there are {old.spec.partitions} already, and messages in them"
        return invalid(errors.Cause("FieldValueInvalid", why, "spec.partitions"))
    if new.spec.retention_hours == 0:
        return Allowed(warnings=("a retention of 0 hours keeps messages for ever",))
    return None


async def reconcile(topic: Topic, ctx: Context[Topic]) -> None:
    await ctx.set_status(TopicStatus(partitions=topic.spec.partitions))


manager = Manager("topics")
manager.controls(Topic).reconcile(reconcile)
manager.webhooks.mutating(Topic, sign, operations=("CREATE",))
manager.webhooks.validating(Topic, check)

if __name__ == "__main__":
    manager.run()
