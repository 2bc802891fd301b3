"""ValidateWebhookService, ValidateWebhookURL: the address of a webhook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from quintant.cluster.apiserver.golang.url import BadUrl, parse_request
from quintant.cluster.apiserver.meta.field_errors import invalid, invalid_each, required
from quintant.cluster.apiserver.meta.names import dns1035_label_errors, dns1123_subdomain_errors
from quintant.cluster.apiserver.validation.common import PORTS
from quintant.core.errors import Cause

REVIEWS = ("v1", "v1beta1")
"""Versions of reviews that the server speaks."""
_FORM = "desired format: https://host[/path]"


def has_one_target(client: Mapping[str, Any]) -> bool:
    """Whether a client is either a URL or a service."""
    return (client.get("url") is None) != (client.get("service") is None)


def url_causes(url: str, path: str) -> Iterator[Cause]:
    """What is wrong with the URL of a webhook."""
    try:
        found = parse_request(url)
    except BadUrl as error:
        yield required(path, f"url must be a valid URL: {error}; {_FORM}")
        return
    if found.scheme != "https":
        yield invalid(path, found.scheme, f"'https' is the only allowed URL scheme; {_FORM}")
    if not found.host:
        yield invalid(path, found.host, f"host must be specified; {_FORM}")
    parts = urlsplit(url)
    user, at, _ = parts.netloc.rpartition("@")
    if at:
        yield invalid(path, user, "user information is not permitted in the URL")
    if parts.fragment:
        yield invalid(path, parts.fragment, "fragments are not permitted in the URL")
    if parts.query:
        yield invalid(path, parts.query, "query parameters are not permitted in the URL")


def service_causes(service: Mapping[str, Any], path: str) -> Iterator[Cause]:
    """What is wrong with a reference to the service of a webhook."""
    for name in ("name", "namespace"):
        if not service.get(name):
            yield required(f"{path}.{name}")
    if service.get("port") not in PORTS:
        text = "port is not valid: must be between 1 and 65535, inclusive"
        yield invalid(f"{path}.port", service.get("port"), text)
    if service.get("path") is not None:
        yield from _path_causes(service["path"], f"{path}.path")


def review_causes(versions: Sequence[str], path: str, needed: str = "") -> Iterator[Cause]:
    """What is wrong with the versions of reviews that a webhook understands."""
    if not versions:
        yield required(path, needed)
        return
    for at, version in enumerate(versions):
        if version in versions[:at]:
            yield invalid(f"{path}[{at}]", version, "duplicate version")
        else:
            yield from invalid_each(f"{path}[{at}]", version, dns1035_label_errors(version))
    if not set(versions) & set(REVIEWS):
        text = f"must include at least one of {', '.join(REVIEWS)}"
        yield invalid(path, list(versions), text)


def _path_causes(text: str, path: str) -> Iterator[Cause]:
    if not text or text == "/":
        return
    if not text.startswith("/"):
        yield invalid(path, text, "must start with a '/'")
    # A real server takes the first letter for the slash, and says so.
    segments = text[1:].split("/")
    for at, segment in enumerate(segments):
        if not segment and at == len(segments) - 1 and at:
            continue
        if not segment:
            yield invalid(path, text, f"segment[{at}] may not be empty")
        else:
            complaints = [f"segment[{at}]: {each}" for each in dns1123_subdomain_errors(segment)]
            yield from invalid_each(path, text, complaints)
