"""An object becomes a template that a maintainer can read."""

from __future__ import annotations

import pytest

from manifests.charts.templates import Fragment, block, condition, each, template

OBJECT = {"kind": "Pod", "spec": {"tolerations": block("tolerations", ".Values.t").slot}}


def test_an_expression_stands_as_it_is() -> None:
    text = template([{"namespace": "{{ .Release.Namespace }}", "tag": '{{ .t | default "a" }}'}])
    assert text == 'namespace: {{ .Release.Namespace }}\ntag: {{ .t | default "a" }}\n'


def test_a_slot_of_a_key_becomes_lines_at_its_indentation() -> None:
    assert template([OBJECT], [block("tolerations", ".Values.t")]).splitlines() == [
        "kind: Pod",
        "spec:",
        "  {{- with .Values.t }}",
        "  tolerations:",
        "    {{- toYaml . | nindent 4 }}",
        "  {{- end }}",
    ]


def test_a_slot_of_an_item_becomes_items() -> None:
    more = Fragment("more", "{{- toYaml .more | nindent <0> }}")
    text = template([{"env": [{"name": "a"}, more.slot]}], [more])
    assert text == "env:\n- name: a\n{{- toYaml .more | nindent 0 }}\n"


def test_documents_may_depend_on_a_value_or_be_there_for_each_of_them() -> None:
    assert condition(".a", "kind: A\n") == "{{- if .a }}\n---\nkind: A\n{{- end }}\n"
    assert each(".b", "kind: B\n") == "{{- range .b }}\n---\nkind: B\n{{- end }}\n"


def test_a_slot_that_would_lose_the_dash_of_its_item_is_refused() -> None:
    first = Fragment("a", "a: 1")
    with pytest.raises(ValueError, match="dash"):
        template([{"rules": [{"a": first.slot, "b": 2}]}], [first])
