"""Roles as a template: cluster-wide, or for the namespaces that a value names.

Some roles are in both cases the same: the account's, the lease's. Cluster-wide there is a
ClusterRole. With namespaces there is a Role in each; of the ClusterRole is left what is about kinds
without a namespace. A namespace that has a Role anyhow has one Role, with the rules of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from manifests.charts.templates import (
    EACH,
    NAMESPACE,
    Fragment,
    Plain,
    condition,
    documents,
    each,
    labelled,
    template,
)
from quintant.core.yaml.dump import to_yaml

_VALUE = ".Values.namespaces"


def rbac_template(wide: Iterable[Plain], local: Iterable[Plain]) -> str:
    """The roles of an operator: those for all namespaces, and those for the items of a value."""
    wide, local = [labelled(found) for found in wide], [labelled(found) for found in local]
    named = [found for found in local if _namespace(found) == EACH]
    fixed = [found for found in local if _namespace(found) != EACH]
    both = [found for found in fixed if found in wide]
    return documents(
        (
            *_unless_named(both, named),
            condition(f"not {_VALUE}", template(found for found in wide if found not in both)),
            condition(
                _VALUE,
                *_unless_named([found for found in fixed if found not in both], named),
                each(_VALUE, *(_with_fixed(found, fixed) for found in named)),
            ),
        )
    )


def _unless_named(fixed: Iterable[Plain], named: Iterable[Plain]) -> Iterator[str]:
    """Objects with a fixed namespace; a Role that the value may name as well is there once."""
    names = {found["metadata"]["name"] for found in named}

    def rival(found: Plain) -> str:
        return _namespace(found) if found["metadata"]["name"] in names else ""

    for namespace, group in groupby(fixed, rival):
        text = template(group)
        absent = f"not (has {_word(namespace)} {_VALUE})"
        yield condition(absent, text) if namespace else text


def _with_fixed(found: Plain, fixed: Iterable[Plain]) -> str:
    """A Role of a named namespace, with the rules of the Role that is there anyhow."""
    if found["kind"] != "Role":
        return template([found])
    lines = "\n".join(_further_rules(found, fixed))
    further = Fragment("further", lines)
    rules = [*found["rules"], *([further.slot] if lines else ())]
    return template([found | {"rules": rules}], [further])


def _further_rules(found: Plain, fixed: Iterable[Plain]) -> Iterator[str]:
    for other in fixed:
        same = (other["kind"], other["metadata"]["name"]) == ("Role", found["metadata"]["name"])
        rules = [rule for rule in other.get("rules", ()) if not _covered(rule, found["rules"])]
        if same and rules:
            yield f"{{{{- if eq . {_word(_namespace(other))} }}}}"
            yield to_yaml([rules]).rstrip()
            yield "{{- end }}"


def _covered(rule: Plain, rules: Iterable[Plain]) -> bool:
    """Whether one of the rules grants all that another does."""
    keys = ("apiGroups", "resources", "verbs")
    return any(
        all(set(rule[key]) <= set(other[key]) for key in keys) and "resourceNames" not in other
        for other in rules
    )


def _namespace(found: Plain) -> str:
    return str(found["metadata"].get("namespace", ""))


def _word(namespace: str) -> str:
    return "$.Release.Namespace" if namespace == NAMESPACE else f'"{namespace}"'
