"""The flags of a program that serves a manager, apart from what they do: they load nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_FLAGS = (
    click.option(
        "--kubeconfig", type=click.Path(path_type=Path), help="Instead of the usual places."
    ),
    click.option("--context", help="Instead of the kubeconfig's current context."),
    click.option(
        "--namespace", "-n", "namespaces", multiple=True, help="Watch only this; repeatable."
    ),
    click.option(
        "--install-crds", is_flag=True, help="Apply the CRDs of its kinds before starting."
    ),
    click.option(
        "--leader-elect/--no-leader-elect",
        default=None,
        help="Compete for a lease first; Quintant's own operators do.",
    ),
    click.option(
        "--processes", metavar="N|auto", help="Members of a sharded manager, on this machine."
    ),
    click.option("--metrics", help="host:port of /metrics; empty switches it off."),
    click.option(
        "--metrics-auth",
        is_flag=True,
        default=None,
        help="Serve them only to who may get the path; the API server is asked.",
    ),
    click.option("--metrics-certificates", help="Folder with tls.crt and tls.key of the metrics."),
    click.option(
        "--debug", is_flag=True, default=None, help="Serve /debug beside the metrics, to the same."
    ),
    click.option("--probes", help="host:port of /healthz and /readyz; empty switches them off."),
    click.option("--webhook", help="host:port of the webhooks."),
    click.option("--certificates", help="Folder with tls.crt and tls.key of the webhooks."),
    click.option("--webhook-secret", help="Keep own certificates of the webhooks in this Secret."),
    click.option("--webhook-url", help="Register the webhooks at this https URL, self-signed."),
    click.option(
        "--log-level", default="info", type=click.Choice(["debug", "info", "warning", "error"])
    ),
    click.option("--log-format", default="auto", type=click.Choice(["auto", "json", "console"])),
)


def flags(command: F) -> F:
    """Give a command the flags of a program that serves a manager."""
    return reduce(lambda made, flag: flag(made), reversed(_FLAGS), command)
