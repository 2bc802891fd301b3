from __future__ import annotations

import pytest

from unit.cluster.api import JsonObject, api

NEWER = "/apis/events.k8s.io/v1/namespaces/default/events"
OLDER = "/api/v1/namespaces/default/events"


def event(**fields: object) -> JsonObject:
    return {
        "metadata": {"name": "e"},
        "eventTime": "2026-01-02T03:04:05.000006Z",
        "reportingController": "example.com/c",
        "reportingInstance": "c-0",
        "action": "Tell",
        "reason": "Told",
        "type": "Normal",
        "regarding": {"kind": "Pod", "namespace": "default", "name": "p"},
        "note": "hello",
        **fields,
    }


@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"eventTime": None}, ["eventTime"]),
        ({"reportingController": "a b"}, ["reportingController"]),
        ({"action": "", "reason": "x" * 129}, ["action", "reason"]),
        ({"note": "x" * 1025}, ["message"]),
        ({"type": ""}, ["type"]),
        ({"deprecatedCount": 1}, ["count"]),
        ({"series": {"count": 1}}, ["series.count", "series.lastObservedTime"]),
    ],
    ids=str,
)
async def test_an_event_of_the_newer_group_is_complete(
    fields: JsonObject, where: list[str]
) -> None:
    refused = await api().create(NEWER, event(**fields), code=422)
    assert [cause["field"] for cause in refused["details"]["causes"]] == where
    assert refused["message"].startswith('Event "e" is invalid: ')


async def test_what_an_event_told_stays_in_the_newer_group() -> None:
    client = api()
    await client.create(NEWER, event())
    refused = await client.merge(f"{NEWER}/e", {"reason": "Other"}, code=422)
    assert refused["message"].count("reason: Invalid value") == 1
    assert (await client.merge(f"{OLDER}/e", {"reason": "Other"}))["reason"] == "Other"


async def test_the_older_group_asks_for_more_once_an_event_has_a_time() -> None:
    involved = {"namespace": "default"}
    await api().create(OLDER, {"metadata": {"name": "e"}, "involvedObject": involved})
    timed = {"involvedObject": involved, "eventTime": "2026-01-02T03:04:05.000006Z"}
    refused = await api().create(OLDER, {"metadata": {"name": "e"}, **timed}, code=422)
    fields = {cause["field"] for cause in refused["details"]["causes"]}
    assert fields == {"reportingComponent", "reportingInstance", "action", "reason"}
