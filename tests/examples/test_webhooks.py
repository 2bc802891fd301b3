"""The example of webhooks does what it says: it signs, and it judges."""

from __future__ import annotations

import pytest
import pytest_asyncio

from examples_support import load_example
from quintant.client.rest import MERGE
from quintant.client.transport import ApiRequest
from quintant.core.codec import encode
from quintant.core.errors import Invalid
from quintant.core.object import Object
from quintant.testing import InProcessCluster, named
from quintant.testing.cluster import ADMIN

example = load_example("06_webhooks")
TOPIC = "/apis/demo.dev/v1/namespaces/default/topics/t"


def topic(partitions: int, **annotations: str) -> Object:
    metadata = named("t", annotations=annotations)
    made: Object = example.Topic(metadata=metadata, spec=example.TopicSpec(partitions=partitions))
    return made


@pytest_asyncio.fixture(autouse=True)
async def running(cluster: InProcessCluster) -> None:
    await cluster.run(example.manager)


@pytest.mark.parametrize("annotations", [{}, {example.AUTHOR: "bob"}])
async def test_a_new_topic_is_signed_with_the_name_of_its_author(
    cluster: InProcessCluster, annotations: dict[str, str]
) -> None:
    made = await cluster.create(topic(3, **annotations))
    assert made.metadata.annotations == {example.AUTHOR: ADMIN}


async def test_partitions_can_be_added_and_not_taken_away(cluster: InProcessCluster) -> None:
    await cluster.create(topic(3))
    await patch(cluster, partitions=4)
    with pytest.raises(Invalid, match="there are 4 already") as refused:
        await patch(cluster, partitions=2)
    assert refused.value.causes[0].field == "spec.partitions"


async def test_endless_retention_is_warned_of(cluster: InProcessCluster) -> None:
    await cluster.create(topic(1))
    body = encode({"spec": {"retentionHours": 0}})
    reply = await cluster.admin.request(
        ApiRequest("PATCH", TOPIC, {}, {"content-type": MERGE}, body)
    )
    assert reply.status == 200
    assert "for ever" in reply.headers["warning"]


async def patch(cluster: InProcessCluster, **spec: int) -> None:
    body = encode({"spec": spec})
    await cluster.client.raw("PATCH", TOPIC, body=body, headers={"content-type": MERGE})
