"""BuildOpenAPIV3, handler3.OpenAPIService: /openapi/v3: an index, and a document per group version.

kubectl reads them to learn which requests take `fieldValidation`, how lists merge, and what to
explain. A document depends on nothing but the kinds in it, so it is made once for them; its hash
is part of its address in the index, and clients may keep what they got there for ever.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha512

import msgspec
from msgspec import Struct

from quintant.client.transport import ApiRequest, ApiResponse
from quintant.cluster.apiserver.codec.body import JSON
from quintant.cluster.apiserver.discovery import api_resources
from quintant.cluster.apiserver.discovery.openapi_paths import paths
from quintant.cluster.apiserver.discovery.openapi_schemas import components
from quintant.cluster.apiserver.kinds.catalog import Catalog
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.version import KUBERNETES

ROOT = "/openapi/v3"
INFO = {"title": "Kubernetes", "version": KUBERNETES.lstrip("v").rpartition(".")[0]}
"""What a document is about."""
REMEMBERED = 128
"""Documents kept: more group versions than a cluster serves."""
FASTEST = 1
"""The level of compression: the first who asks waits for it."""
_INDEX = {"content-type": "text/plain; charset=utf-8"}
_MOVED, _NOT_MODIFIED, _NOT_FOUND = 301, 304, 404


class OpenApiV3(Struct, frozen=True):
    """A document, compressed, and its hash."""

    compressed: bytes
    digest: str

    @property
    def body(self) -> bytes:
        """The document."""
        return zlib.decompress(self.compressed)


def openapi_v3(catalog: Catalog, path: str, call: ApiRequest) -> ApiResponse:
    """The index, or the document of a group version (`api/v1`, `apis/apps/v1`)."""
    served = dict(_served(catalog))
    if not path:
        index = {name: {"serverRelativeURL": _address(name, served[name])} for name in served}
        for (group, version), remote in catalog.remote.items():
            index.pop(f"apis/{group}/{version}", None)
            if remote.openapi:
                index[f"apis/{group}/{version}"] = {"serverRelativeURL": remote.openapi}
        return ApiResponse(200, msgspec.json.encode({"paths": index}) + b"\n", _INDEX)
    if path not in served:
        return ApiResponse(_NOT_FOUND)
    return _sent(path, _document(served[path]), call)


def _sent(path: str, document: OpenApiV3, call: ApiRequest) -> ApiResponse:
    tag, value = f'"{document.digest}"', call.query.get("hash")
    headers = {"etag": tag, "vary": "Accept"}
    if value not in (None, document.digest):
        return ApiResponse(
            _MOVED, b"", headers | {"location": f"{ROOT}/{path}?hash={document.digest}"}
        )
    if value is not None:
        headers |= {"cache-control": "public, immutable"}
    if call.headers.get("if-none-match") == tag:
        return ApiResponse(_NOT_MODIFIED, b"", headers)
    return ApiResponse(200, document.body, headers | {"content-type": JSON})


def _served(catalog: Catalog) -> Iterator[tuple[str, tuple[Kind, ...]]]:
    """Every group version with its kinds."""
    for group in ("", *sorted(api_resources.groups(catalog))):
        for version in sorted(api_resources.versions(catalog, group)):
            name = f"apis/{group}/{version}" if group else f"api/{version}"
            kinds = api_resources.by_name(catalog.version(group, version))
            # What cannot be written needs no description: nothing is merged or validated.
            described = tuple(kind for kind in kinds if not kind.computed)
            if described:
                yield name, described


def _address(name: str, kinds: tuple[Kind, ...]) -> str:
    return f"{ROOT}/{name}?hash={_document(kinds).digest}"


@lru_cache(REMEMBERED)
def _document(kinds: tuple[Kind, ...]) -> OpenApiV3:
    document = {
        "openapi": "3.0.0",
        "info": INFO,
        "paths": {path: found for kind in kinds for path, found in paths(kind)},
        "components": {"schemas": components(kinds)},
    }
    body = msgspec.json.encode(document)
    return OpenApiV3(zlib.compress(body, FASTEST), sha512(body).hexdigest().upper())
