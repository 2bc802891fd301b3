"""A client for commands that ask the cluster something, and end; and the flags that they have."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.client.rest import Rest
from quintant.client.retry import with_retries
from quintant.runtime.cache.client import Client

F = TypeVar("F", bound=Callable[..., Any])
Work = Callable[[Client, str], Awaitable[None]]
"""What a command does with a client, in a namespace."""
_FLAGS = (
    click.option("--namespace", "-n", default="", help="Instead of the kubeconfig's."),
    click.option(
        "--kubeconfig", type=click.Path(path_type=Path), help="Instead of the usual places."
    ),
)


def client_flags(command: F) -> F:
    """Give a command the flags that `run_with_client` takes."""
    return reduce(lambda made, flag: flag(made), reversed(_FLAGS), command)


def run_with_client(manager: str, work: Work, *, namespace: str, kubeconfig: Path | None) -> None:
    """Do a command's work at the cluster, and in the namespace, that its flags name."""
    config = Config.load(kubeconfig) if kubeconfig else Config.discover()

    async def run() -> None:
        async with open_client(config, manager) as client:
            await work(client, namespace or config.namespace)

    asyncio.run(run())


@asynccontextmanager
async def open_client(config: Config, manager: str) -> AsyncIterator[Client]:
    """A client of a cluster that writes under a manager's name."""
    transport = HttpTransport(config)
    try:
        yield Client(Rest(with_retries(transport)), manager=manager)
    finally:
        await transport.close()
