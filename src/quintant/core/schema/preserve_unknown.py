"""A struct of which some fields are named, and all others kept: `PreserveUnknown[Model]`.

    class Template(Model):
        definitions_version: str

    class ClusterSpec(Model):
        template: PreserveUnknown[Template]

The server's schema has the named fields, with their types, limits and rules, and keeps the others.
In Python it is the whole text, as an Opaque is, and `known` is what is named of it. It keeps the
unknown fields of its own level; a struct within it keeps its own if it is one too.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from quintant.core.codec import decode_model
from quintant.core.object import Model, Opaque

M = TypeVar("M", bound=Model)


class PreserveUnknown(Opaque, Generic[M]):
    """JSON of which a Model names some fields; every field survives, named or not."""

    __slots__ = ("model",)

    def __init__(self, raw: bytes, model: type[M]) -> None:
        super().__init__(raw)
        self.model: type[M] = model

    @classmethod
    def from_plain(cls, model: type[M], value: Any) -> PreserveUnknown[M]:
        """Wrap plain data (dicts, lists, Models)."""
        return cls(Opaque.of(value).raw, model)

    @property
    def known(self) -> M:
        """The named fields; Undecodable if they do not fit, as what was stored before a rule may.

        Read again each time: keep it if it is used often.
        """
        return decode_model(self.model, self.raw)
