"""Objects as templates of Helm.

An object holds expressions as strings: `{{ $.Release.Namespace }}` stands in the template as it is.
What is more than a word is a `Fragment`: lines that take the place of a key, or of an item of a
list, at its indentation.

    {"imagePullSecrets": pull_secrets.slot}      the key and its value become the lines
    [*env, more.slot]                            the item becomes the lines
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from manifests.files import NOTE
from quintant.core.yaml.dump import to_yaml

Plain = dict[str, Any]
NAMESPACE = "{{ $.Release.Namespace }}"
"""Where a release is; `$` is the root also within a range."""
EACH = "{{ . }}"
"""An item of the range around."""
HEADER = f"{{{{- /* {NOTE} */ -}}}}\n"
_QUOTED = re.compile(r"'(\{\{ .* \}\})'")
_SLOT = re.compile(r"^(?P<indent> *)(?P<item>- )?(?P<key>[^<]*)<<(?P<name>[\w.]+)>>.*$")
_INDENTATION = re.compile(r"<(\d+)>")


@dataclass(frozen=True)
class Fragment:
    """Lines of a template; `<2>` in them is their indentation and two more, as a number."""

    name: str
    text: str

    @property
    def slot(self) -> str:
        """What stands in an object where the lines go."""
        return f"<<{self.name}>>"

    def at(self, indent: int) -> str:
        """The lines at an indentation."""
        numbered = _INDENTATION.sub(lambda found: str(indent + int(found[1])), self.text)
        return "\n".join(" " * indent + line for line in numbered.splitlines())


def block(key: str, expression: str) -> Fragment:
    """A key whose value is a user's; without a value there is no key."""
    lines = (f"{{{{- with {expression} }}}}", f"{key}:", "  {{- toYaml . | nindent <2> }}")
    return Fragment(key, "\n".join((*lines, "{{- end }}")))


def scalar(key: str, expression: str) -> Fragment:
    """A key with a word of a user's; without one there is no key."""
    return Fragment(
        key, f"{{{{- with {expression} }}}}\n{key}: {{{{ . | quote }}}}\n{{{{- end }}}}"
    )


LABELS = Fragment("labels", '{{- include "quintant.labels" $ | nindent <0> }}')
"""Those of a release, among the labels of an object."""


def template(objects: Iterable[Plain], fragments: Iterable[Fragment] = ()) -> str:
    """The text of objects, one document each, with what is in their slots."""
    named = {fragment.name: fragment for fragment in (LABELS, *fragments)}
    lines = (_line(line, named) for line in to_yaml(objects).splitlines())
    return "\n".join(lines) + "\n"


def labelled(found: Plain, labels: Fragment = LABELS) -> Plain:
    """An object with the labels of its release, beside its own."""
    meta = found["metadata"]
    own = {labels.slot: ""} | meta.get("labels", {})
    return found | {"metadata": meta | {"labels": own}}


def condition(expression: str, *texts: str) -> str:
    """Documents that are there only if an expression is true."""
    return f"{{{{- if {expression} }}}}\n{documents(texts)}{{{{- end }}}}\n"


def each(expression: str, *texts: str) -> str:
    """Documents for every item of a list."""
    return f"{{{{- range {expression} }}}}\n{documents(texts)}{{{{- end }}}}\n"


def documents(texts: Iterable[str]) -> str:
    """Texts one after another, each document with its separator."""
    return "".join(text if text.startswith("{{-") else f"---\n{text}" for text in texts if text)


def _line(line: str, fragments: dict[str, Fragment]) -> str:
    slot = _SLOT.match(line)
    if slot is not None:
        if slot["item"] and slot["key"].strip("'"):
            raise ValueError(f"a slot in the first key of an item would lose its dash: {line}")
        return fragments[slot["name"]].at(len(slot["indent"]))
    return _QUOTED.sub(lambda found: found[1].replace("''", "'"), line)
