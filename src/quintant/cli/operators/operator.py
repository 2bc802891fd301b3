"""`quintant operator`: one of the operators that come with Quintant, against any cluster."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import click

from quintant.cli.operators.serve import serve
from quintant.cli.operators.serve_flags import flags
from quintant.client.config.config import Config
from quintant.client.http.transport import HttpTransport
from quintant.extras import require
from quintant.operators import OPERATORS, manager_of
from quintant.runtime.manager.manager import Manager
from quintant.runtime.manager.own_image import POD_NAME, read_own_image

OWN_IMAGE = "OWN_IMAGE"
"""The variable with the image of the own pod, for operators that make pods."""


@click.command(
    "operator",
    epilog="\b\n" + "\n".join(f"{name}: {OPERATORS[name].title}" for name in sorted(OPERATORS)),
)
@click.argument("name", metavar="NAME", type=click.Choice(sorted(OPERATORS)))
@click.option(
    "--shards", is_flag=True, help="Every replica works, on objects of its own (not shifu)."
)
@flags
def command(name: str, shards: bool, **given: Any) -> None:
    """Run one of Quintant's own operators until Ctrl-C.

    It runs against the cluster of your kubeconfig, or inside one.
    """
    require(name)
    serve(lambda: _load(name, shards=shards), **given)


def _load(name: str, *, shards: bool) -> Manager:
    """An operator whose pods have the image of its own, unless it is told another one."""
    variable = OPERATORS[name].image_variable
    if variable and os.environ.get(POD_NAME):
        image = asyncio.run(_own_image(name))
        for each in (variable, OWN_IMAGE) if image else ():
            os.environ.setdefault(each, image)
    return manager_of(name, shards=shards)


async def _own_image(name: str) -> str:
    config = Config.discover()
    transport = HttpTransport(config)
    try:
        container = OPERATORS[name].name
        return await read_own_image(transport, config.namespace, container, os.environ)
    finally:
        await transport.close()
