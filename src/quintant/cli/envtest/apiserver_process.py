"""The server of `kube-apiserver`: the files that flags name, the store beside etcd, and serving."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from ssl import SSLContext

import yaml

from quintant.cli.cluster.signals import stop_event
from quintant.cli.envtest.apiserver_flags import ApiServerFlags
from quintant.cli.envtest.flag_set import FlagError
from quintant.cli.envtest.store_location import locate_store
from quintant.cluster.apiserver.meta.user import User
from quintant.cluster.apiserver.storage.durable import open_durable_store
from quintant.cluster.instance.standalone import (
    StandaloneConfig,
    run_standalone,
    self_signed,
    tls_context,
    trust_clients,
    verify_signing_keys,
)
from quintant.core.errors import ConfigError
from quintant.keys.private_files import write_private
from quintant.keys.sensitive import Sensitive
from quintant.keys.tls import KeyPair

COLUMNS = 3
"""Of a file of tokens, at least: token, user, uid."""
MOST_BYTES = 3 * 1024 * 1024
"""Of any file that a flag names."""


async def serve_flags(flags: ApiServerFlags) -> None:
    """Serve until a signal comes."""
    stopped = stop_event()
    config = load_config(flags)
    context = serving_context(config, flags)
    folder = locate_store(flags.etcd, flags.prefix)
    async with AsyncExitStack() as stack:
        with named("etcd-servers"):
            store = await stack.enter_async_context(open_durable_store(folder))
        with named("secure-port"):
            await stack.enter_async_context(run_standalone(config, store, context))
        await stopped.wait()


@contextmanager
def named(flag: str) -> Iterator[None]:
    """A mistake in the set-up, told with the flag that it is about."""
    try:
        yield
    except ConfigError as error:
        raise FlagError(f"--{flag}: {error}") from None


def serving_context(config: StandaloneConfig, flags: ApiServerFlags) -> SSLContext:
    """TLS at the server's side; FlagError names what cannot be used."""
    with named("cert-dir" if flags.serving is None else "tls-cert-file"):
        context = tls_context(config.serving)
    if config.client_authority:
        with named("client-ca-file"):
            trust_clients(context, config.client_authority)
    return context


def load_config(flags: ApiServerFlags) -> StandaloneConfig:
    """The server of these flags, with what their files hold; FlagError names flag and file."""
    signing = Sensitive(read_file("service-account-signing-key-file", flags.signing_key))
    publics = [read_file("service-account-key-file", path) for path in flags.public_keys]
    try:
        verify_signing_keys(signing, publics)
    except ValueError as error:
        raise FlagError(f"--service-account-key-file: {error}") from None
    if flags.audit_policy is not None:
        check_audit_policy(read_file("audit-policy-file", flags.audit_policy))
    authority = flags.client_authority
    return StandaloneConfig(
        flags.address,
        flags.advertised,
        load_serving(flags),
        read_file("client-ca-file", authority) if authority is not None else b"",
        signing,
        flags.issuers,
        flags.services,
        flags.disabled,
        read_tokens(flags.tokens) if flags.tokens is not None else (),
    )


def read_file(flag: str, path: Path) -> bytes:
    """A file that a flag names; FlagError if it cannot be read."""
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise FlagError(f"--{flag}: open {path}: {(error.strerror or '').lower()}") from None
    if len(text) > MOST_BYTES:
        raise FlagError(f"--{flag}: {path} is larger than {MOST_BYTES} bytes")
    return text


def load_serving(flags: ApiServerFlags) -> KeyPair:
    """The serving certificate: what flags name, what the folder has, or a new one put there."""
    if flags.serving is not None:
        certificate, key = flags.serving
        return KeyPair(
            Sensitive(read_file("tls-cert-file", certificate)),
            Sensitive(read_file("tls-private-key-file", key)),
        )
    certificate, key = (flags.certificates / f"apiserver.{end}" for end in ("crt", "key"))
    if certificate.exists() or key.exists():
        return KeyPair(
            Sensitive(read_file("cert-dir", certificate)), Sensitive(read_file("cert-dir", key))
        )
    made = self_signed(flags.address.host, datetime.now(UTC))
    try:
        write_private(certificate, made.certificate.reveal())
        write_private(key, made.key.reveal())
    except (OSError, ConfigError) as error:
        raise FlagError(f"--cert-dir: {flags.certificates}: {error}") from None
    return made


def read_tokens(path: Path) -> tuple[tuple[str, User], ...]:
    """The users of a file of tokens; FlagError names a line that is none."""
    text = read_file("token-auth-file", path).decode(errors="replace")
    return tuple(
        _token(path, number, row)
        for number, row in enumerate(csv.reader(text.splitlines()), 1)
        if row
    )


def _token(path: Path, number: int, row: list[str]) -> tuple[str, User]:
    columns = [column.strip() for column in row]
    if len(columns) < COLUMNS or not columns[0]:
        raise FlagError(
            f"--token-auth-file: {path}: line {number} must have at least {COLUMNS} columns "
            f"(token, user name, user uid), found {len(columns)}"
        )
    token, name, uid, *groups = columns
    listed = groups[0].split(",") if groups else []
    return token, User(name, tuple(group.strip() for group in listed if group.strip()), uid)


def check_audit_policy(text: bytes) -> None:
    """FlagError unless a text is an audit policy; none is written to without a log."""
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        found = None
    if not isinstance(found, dict) or found.get("kind") != "Policy":
        raise FlagError("--audit-policy-file: that is no audit.k8s.io/v1 Policy")
