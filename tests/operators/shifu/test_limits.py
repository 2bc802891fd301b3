"""Rights: nothing is refused, and nothing is held that is not used (scenarios I)."""

from __future__ import annotations

from testbeds.shifu import ShifuTestbed


async def busy_day(testbed: ShifuTestbed) -> None:
    """Everything that needs a right of its own."""
    await testbed.nodes("n1", "n2")
    for name in ("a", "b"):
        await testbed.device(name)
        await testbed.placed(name)
    await testbed.hint("a", priority="nonsense")
    await testbed.fault("n1", "dead")
    await testbed.cluster.advance(80)
    for name in ("a", "b"):
        await testbed.placed(name, "n2")
    await testbed.client.delete(await testbed.get("a"))
    await testbed.delete_node("n1")
    await testbed.cluster.advance(10)


async def test_i2_every_right_but_single_reads_is_used_and_none_is_missing(
    testbed: ShifuTestbed,
) -> None:
    await busy_day(testbed)

    assert testbed.account is not None
    assert not testbed.account.denied()
    # One object is read live where a cache cannot be asked, or may be behind.
    left = {held for held in testbed.account.unused() if held.verb != "get"}
    assert {(held.resource, held.verb) for held in left} <= {
        ("nodes", "list"),
        ("events", "patch"),
    } | {(each, "list") for each in LISTED}


async def test_i3_no_secret_is_read_and_no_spec_of_a_device_or_node_written(
    testbed: ShifuTestbed,
) -> None:
    await busy_day(testbed)

    assert testbed.account is not None
    asked = testbed.account.requests()
    assert not [each for each in asked if each.resource == "secrets"]
    written = [each for each in asked if each.verb not in ("get", "list", "watch")]
    touched = {each.resource for each in written}
    assert not touched & {"edgedevices", "nodes"}
    assert {"edgedevices/status", "edgenodes/status"} <= touched


LISTED = ("edgedevices", "edgenodes", "deployments", "pods", "services", "configmaps", "nodes")
"""A first state is a stream, where the server can; else a list."""
