"""NewStructural: schemas of definitions are compiled once, where they are validated.

To prepare a large schema takes long, so it is done where the definition is validated, which is
beside the loop then (quintant.cluster.apiserver.offload.pool); when the definition is served, it is
at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from quintant.cluster.apiserver.crd.strategy import CustomSchema
from quintant.cluster.apiserver.structuredmerge.schema import MergeSchema, custom_schema
from quintant.core.resource import Scale

RECENT = 64
"""Schemas kept at hand: those of the definitions that are written now, and by tests again."""


class CompiledSchema(Struct, frozen=True):
    """A schema at work, and the shape of its objects for who merges them."""

    schema: CustomSchema
    merge_schema: MergeSchema
    size: int
    """Bytes of it as JSON."""


def compile_schema(schema: Mapping[str, Any], scale: Scale | None) -> CompiledSchema:
    """What is made of a schema; the same for the same."""
    return _prepared(msgspec.json.encode(schema), scale)


@lru_cache(RECENT)
def _prepared(raw: bytes, scale: Scale | None) -> CompiledSchema:
    schema = msgspec.json.decode(raw)
    return CompiledSchema(CustomSchema(schema, scale), custom_schema(schema), len(raw))
