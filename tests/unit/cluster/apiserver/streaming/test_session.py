"""A session: bytes both ways, no faster than either takes them, and an end for every case."""

from __future__ import annotations

import asyncio
from functools import partial

from quintant.cluster.apiserver.kubelet_client.streaming_runtime import ExecOptions, TerminalSize
from quintant.cluster.apiserver.streaming.channels import UNVERSIONED, V5, ExecChannel
from quintant.cluster.apiserver.streaming.session import CLOSE_SECONDS, IDLE_SECONDS, serve_exec
from unit.cluster.apiserver.streaming.fakes import FakeClient, FakeRuntime

WHOLE = ExecOptions(("cat",), stdin=True, stdout=True, stderr=True)


def begin(
    client: FakeClient, runtime: FakeRuntime, options: ExecOptions = WHOLE, protocol: str = V5
) -> asyncio.Task[None]:
    start = partial(runtime.exec, "uid", "main", options)
    return asyncio.ensure_future(serve_exec(client, start, options, protocol))


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_bytes_go_both_ways_and_the_end_is_told() -> None:
    client, runtime = FakeClient(), FakeRuntime()
    task = begin(client, runtime)
    client.incoming.put_nowait((ExecChannel.STDIN, b"in"))
    client.incoming.put_nowait((ExecChannel.CLOSE, b"\0"))
    runtime.process.output.put_nowait(b"out")
    await settled()
    assert (runtime.process.given, runtime.process.input_ended) == ([b"in"], True)
    runtime.process.end(0)
    await task
    assert client.heard[0] == (ExecChannel.STDOUT, b"out")
    assert client.status["status"] == "Success"
    assert client.closed


async def test_without_a_version_only_a_failure_is_told_and_by_words() -> None:
    for code, told in ((0, []), (7, [ExecChannel.ERROR])):
        client, runtime = FakeClient(), FakeRuntime()
        task = begin(client, runtime, protocol=UNVERSIONED)
        await settled()
        runtime.process.end(code)
        await task
        assert [channel for channel, _ in client.heard] == told
        assert all(b"exit code 7" in words and b"{" not in words for _, words in client.heard)
        assert client.closed


async def test_input_that_was_not_asked_for_is_dropped() -> None:
    client, runtime = FakeClient(), FakeRuntime()
    task = begin(client, runtime, ExecOptions(("ls",), stdout=True))
    for channel in (ExecChannel.STDIN, ExecChannel.STDOUT, 77):
        client.incoming.put_nowait((channel, b"in"))
    client.incoming.put_nowait((ExecChannel.CLOSE, b"\7"))
    await settled()
    assert (runtime.process.given, runtime.process.input_ended) == ([], False)
    runtime.process.end(0)
    await task


async def test_sizes_reach_the_terminal_and_nonsense_does_not() -> None:
    client, runtime = FakeClient(), FakeRuntime()
    task = begin(client, runtime, ExecOptions(("sh",), stdin=True, stdout=True, tty=True))
    for payload in (b'{"Width":80,"Height":24}', b"nonsense"):
        client.incoming.put_nowait((ExecChannel.RESIZE, payload))
    await settled()
    assert runtime.process.sizes == [TerminalSize(80, 24)]
    runtime.process.end(0)
    await task


async def test_nothing_is_read_ahead_for_a_client_that_does_not_read() -> None:
    client, runtime = FakeClient(), FakeRuntime()
    client.reads.clear()
    task = begin(client, runtime)
    for _ in range(100):
        runtime.process.output.put_nowait(b"x" * 1000)
    await settled()
    assert runtime.process.read_count == 1
    client.reads.set()
    runtime.process.end(0)
    await task
    assert len(client.heard) == 101, "all of it, and the status"


async def test_a_client_that_leaves_ends_the_program() -> None:
    client, runtime = FakeClient(), FakeRuntime()
    task = begin(client, runtime)
    client.incoming.put_nowait(None)
    await settled()
    assert runtime.process.killed
    client.incoming.put_nowait(None)
    await task


async def test_a_session_that_is_cancelled_ends_the_program() -> None:
    client, runtime = FakeClient(), FakeRuntime()
    task = begin(client, runtime)
    await settled()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert runtime.process.killed


async def test_a_session_without_a_byte_ends_after_hours() -> None:
    client, runtime = FakeClient(), FakeRuntime()
    task = begin(client, runtime)
    await asyncio.sleep(IDLE_SECONDS - 1)
    client.incoming.put_nowait((ExecChannel.STDIN, b"x"))
    await asyncio.sleep(IDLE_SECONDS - 1)
    assert not task.done()
    await asyncio.sleep(2)
    await task
    assert runtime.process.killed
    assert client.status["message"].endswith("the session was idle for 4 hours")


async def test_a_client_that_never_closes_is_not_waited_for() -> None:
    client, runtime = FakeClient(), FakeRuntime()
    task = begin(client, runtime)
    await settled()
    runtime.process.end(0)
    await settled()
    while not client.incoming.empty():  # the answer to the close never comes
        client.incoming.get_nowait()
    await asyncio.sleep(CLOSE_SECONDS + 1)
    assert task.done()


async def test_why_nothing_was_started_is_told_on_the_error_channel() -> None:
    client, runtime = FakeClient(), FakeRuntime()
    runtime.unstartable = "no such program"
    await begin(client, runtime)
    assert client.status["reason"] == "InternalError"
    assert client.status["message"] == (
        "Internal error occurred: error executing command in container: no such program"
    )
