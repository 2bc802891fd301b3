"""Webhooks: changes are judged, and amended, before they are stored.

The handlers are served at :9443 over TLS, with the certificate that is mounted at
/tmp/k8s-webhook-server/serving-certs. Tell the API server of them with what this prints:

    python examples/06_webhooks.py configuration | kubectl apply -f -
"""

import sys
from typing import Annotated

from msgspec import Meta

from quintant import Custom, Manager, Model, errors, replace, resource
from quintant.api.admission import ServiceReference
from quintant.runtime.codec import to_plain
from quintant.runtime.manifest import to_yaml
from quintant.runtime.webhook import Admission, Allowed, Verdict, invalid

AUTHOR = "demo.dev/created-by"


class TopicSpec(Model):
    partitions: Annotated[int, Meta(ge=1)]
    retention_hours: Annotated[int, Meta(ge=0)] | None = None


class TopicStatus(Model):
    ready: bool | None = None


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
        few = f"there are {old.spec.partitions} already, and their messages"
        return invalid(errors.Cause("FieldValueInvalid", few, "spec.partitions"))
    if new.spec.retention_hours == 0:
        return Allowed(warnings=("a retention of 0 hours keeps messages for ever",))
    return None


manager = Manager("topics")
manager.webhooks.mutating(Topic, sign, operations=("CREATE",))
manager.webhooks.validating(Topic, check)

if __name__ == "__main__":
    if sys.argv[1:] == ["configuration"]:
        service = ServiceReference(name="topics-webhook", namespace="topics-system")
        print(to_yaml(to_plain(each) for each in manager.webhooks.configurations(service)))
    else:
        manager.run()
