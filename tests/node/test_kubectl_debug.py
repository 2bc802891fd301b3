"""kubectl debug, attach and run with pods that are processes: containers that one speaks with."""

from __future__ import annotations

import asyncio
import os
import pty
from pathlib import Path

import pytest

import patience
from conformance.kubectl import Kubectl
from conformance.target import STRATEGIC
from node.node_fixture import PATIENCE_SECONDS, NodeCluster, ready
from node.test_kubectl_streams import SHELL, kubectl, needs_kubectl, node
from unit.cluster.api import PODS, JsonObject

__all__ = ["kubectl", "node"]
pytestmark = [pytest.mark.realtime, needs_kubectl]


async def spoken_with(kubectl: Kubectl, text: str, *words: str) -> tuple[int, str]:
    """What a command shows in a terminal in which somebody wrote `text`."""
    near, far = pty.openpty()
    environ = {**os.environ, "KUBECONFIG": str(kubectl.kubeconfig)}
    process = await asyncio.create_subprocess_exec(
        kubectl.program, "--cache-dir", kubectl.cache, *words,
        env=environ, stdin=far, stdout=far, stderr=far,
    )  # fmt: skip
    os.close(far)
    shown = ""
    async with patience.within(PATIENCE_SECONDS):
        os.write(near, text.encode())
        while piece := await asyncio.to_thread(read, near):
            shown += piece
        code = await process.wait()
    os.close(near)
    return code, shown


def read(near: int) -> str:
    try:
        return os.read(near, 4096).decode(errors="replace")
    except OSError:
        return ""


def debugger(pod: JsonObject, name: str = "debugger") -> JsonObject:
    """What a pod's status tells of a debugger."""
    told = pod["status"].get("ephemeralContainerStatuses") or []
    found: JsonObject = next((each for each in told if each["name"] == name), {})
    return found


def ended(pod: JsonObject) -> bool:
    return "terminated" in debugger(pod).get("state", {})


async def test_a_debugger_runs_beside_the_containers_of_a_pod(
    node: NodeCluster, kubectl: Kubectl
) -> None:
    before = await node.until("a", ready)
    script = 'echo "$HOSTNAME"; exit 3'
    await kubectl("debug", "a", f"--image={SHELL}", "-c", "debugger", "--", "sh", "-c", script)
    pod = await node.until("a", ended)
    assert debugger(pod)["state"]["terminated"]["exitCode"] == 3
    assert (debugger(pod)["ready"], debugger(pod)["restartCount"]) == (False, 0)
    assert await kubectl("logs", "a", "-c", "debugger") == "a\n"
    assert pod["status"]["containerStatuses"] == before["status"]["containerStatuses"]
    assert ready(pod)
    described = await kubectl("describe", "pod", "a")
    assert "Ephemeral Containers:" in described


async def test_one_speaks_with_a_debugger_in_a_terminal(
    node: NodeCluster, kubectl: Kubectl
) -> None:
    typed = "test -t 0 && echo terminal-$((40 + 2)) $TERM; exit 5\n"
    words = ("debug", "-it", "a", f"--image={SHELL}", "-c", "debugger", "--", "sh")
    _, shown = await spoken_with(kubectl, typed, *words)
    assert "terminal-42 xterm" in shown
    pod = await node.until("a", ended)
    assert debugger(pod)["state"]["terminated"]["exitCode"] == 5
    assert "terminal-42" in await kubectl("logs", "a", "-c", "debugger")


async def test_a_debugger_that_waits_for_input_is_attached_to_again(
    node: NodeCluster, kubectl: Kubectl
) -> None:
    patch = {"spec": {"ephemeralContainers": [
        {"name": "debugger", "image": SHELL, "command": ["cat"], "stdin": True}
    ]}}  # fmt: skip
    await node.api.ask("PATCH", f"{PODS}/a/ephemeralcontainers", patch, 200, media=STRATEGIC)
    await node.until("a", lambda pod: "running" in debugger(pod).get("state", {}))
    for word in (b"first\n", b"second\n"):
        process = await kubectl.start("attach", "-i", "a", "-c", "debugger", "-q")
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(word)
        async with patience.within(PATIENCE_SECONDS):
            assert await process.stdout.readline() == word
        process.kill()
        await process.communicate()
    assert not ended(await node.api.get(f"{PODS}/a"))
    assert await kubectl("logs", "a", "-c", "debugger") == "first\nsecond\n"


async def test_commands_run_beside_a_debugger_too(node: NodeCluster, kubectl: Kubectl) -> None:
    sleeping = ("--", "sleep", "1000")
    await kubectl("debug", "a", f"--image={SHELL}", "-c", "debugger", *sleeping)
    await node.until("a", lambda pod: "running" in debugger(pod).get("state", {}))
    script = "echo $HOSTNAME > /tmp/own; cat /tmp/own"
    assert await kubectl("exec", "a", "-c", "debugger", "--", "sh", "-c", script) == "a\n"


async def test_a_debugger_of_an_unknown_image_waits_and_says_why(
    node: NodeCluster, kubectl: Kubectl
) -> None:
    found = await kubectl.run("debug", "a", "--image=nobody/knows", "-c", "debugger", "--", "sh")
    assert found.code == 0

    def waits(pod: JsonObject) -> bool:
        return "reason" in debugger(pod).get("state", {}).get("waiting", {})

    pod = await node.until("a", waits)
    told = debugger(pod)["state"]["waiting"]
    assert told["reason"] == "ErrImageNeverPull"
    assert 'image "nobody/knows" is not in the image table' in told["message"]
    assert ready(pod)


async def test_a_pod_that_has_done_its_work_takes_its_debuggers_along(
    node: NodeCluster, kubectl: Kubectl
) -> None:
    script = "until test -e $QUINTANT_ROOT/tmp/end; do sleep 0.1; done"
    container = {"name": "main", "image": SHELL, "command": ["sh", "-c", script]}
    await node.create(
        "b", containers=[container], restartPolicy="Never", terminationGracePeriodSeconds=1
    )
    await node.until("b", ready)
    await kubectl("debug", "b", f"--image={SHELL}", "-c", "debugger", "--", "sleep", "1000")
    await node.until("b", lambda pod: "running" in debugger(pod).get("state", {}))
    await kubectl.run("exec", "b", "-c", "main", "--", "touch", "/tmp/end")
    pod = await node.until("b", lambda pod: pod["status"]["phase"] == "Succeeded")
    assert ended(pod)


async def test_run_gives_its_input_to_the_container_and_removes_the_pod(
    node: NodeCluster, kubectl: Kubectl, tmp_path: Path
) -> None:
    accounts = "/api/v1/namespaces/default/serviceaccounts"
    await node.api.send("POST", accounts, {"metadata": {"name": "default"}})
    overrides = '{"spec": {"nodeName": "local"}}'
    process = await kubectl.start(
        "run", "c", "-i", "--rm", "--restart=Never", f"--image={SHELL}",
        f"--overrides={overrides}", "--override-type=merge", "--command", "--", "cat",
    )  # fmt: skip
    async with patience.within(PATIENCE_SECONDS):
        out, err = await process.communicate(b"to and fro\n")
    assert b"to and fro\n" in out, err
    await node.gone("c")
