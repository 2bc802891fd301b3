from __future__ import annotations

from quintant.cluster.apiserver.kinds.metadata_rules import SUFFIX_ALPHABET
from unit.cluster.api import (
    CMS,
    api,
)


async def test_a_name_can_be_generated() -> None:
    client = api()
    names = set()
    for _ in range(20):
        created = await client.create(CMS, {"metadata": {"generateName": "web-"}})
        name = created["metadata"]["name"]
        assert name.startswith("web-")
        assert len(name) == len("web-") + 5
        assert set(name.removeprefix("web-")) <= set(SUFFIX_ALPHABET)
        names.add(name)
    assert len(names) == 20


async def test_a_long_base_of_a_name_is_cut() -> None:
    created = await api().create(CMS, {"metadata": {"generateName": "x" * 100}})
    assert len(created["metadata"]["name"]) == 63


async def test_a_new_object_has_a_uid_and_a_time_that_an_update_keeps() -> None:
    client = api()
    created = (await client.create(CMS, {"metadata": {"name": "a", "uid": "mine"}}))["metadata"]
    assert created["uid"] != "mine"
    labelled = await client.merge(f"{CMS}/a", {"metadata": {"labels": {"a": "b"}}})
    for field in ("uid", "creationTimestamp"):
        assert labelled["metadata"][field] == created[field]
