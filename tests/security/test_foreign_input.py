"""What others wrote is read in one place, and its readers fail with their declared errors only.

Every call of a decoder in the product is found by a walk over its source. It is the one place, or
its module is declared below with a reason; a reader that uses the one place is fed with lies.

Protobuf is decoded field by field and not by these decoders: test_fuzz.py finds its parsers. Of
what kubelets hear (probes, hooks, logs, termination messages) nothing is decoded: codes and text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from quintant.agents import telemetryservice
from quintant.agents.apiclient import client as apiclient
from quintant.agents.apiclient import errors as apiclient_errors
from quintant.agents.apiclient import watch as apiclient_watch
from quintant.agents.deviceshifu.config import yaml_text
from quintant.agents.deviceshifu.config.yaml_text import SectionError
from quintant.agents.deviceshifu.drivers import modbus, opcua
from quintant.agents.deviceshifu.drivers import socket as device_socket
from quintant.agents.deviceshifu.drivers.driver import DeviceError
from quintant.agents.deviceshifu.drivers.modbus_point import ModbusPoint
from quintant.agents.deviceshifu.drivers.socket import SocketFormat
from quintant.agents.imsimulator import template
from quintant.agents.relay.tunnel import tokens
from quintant.agents.tunnel import options as tunnel_options
from quintant.api.core import ConfigMap
from quintant.client.transport import ApiResponse
from quintant.cluster.apiserver.authentication import service_accounts
from quintant.cluster.apiserver.conversion import autoscaling
from quintant.cluster.apiserver.fieldmanager import client_side_apply
from quintant.cluster.apiserver.golang import json as golang_json
from quintant.cluster.apiserver.kinds.kind import Kind
from quintant.cluster.apiserver.registry.builtin import builtin_kinds
from quintant.cluster.apiserver.storage import snapshot_file
from quintant.cluster.apiserver.storage.revision_log import RevisionStore
from quintant.cluster.apiserver.streaming import channels
from quintant.cluster.apiserver.webhooks import http_reply
from quintant.cluster.apiserver.webhooks.response import InvalidReviewResponse, read_review_response
from quintant.cluster.instance import records
from quintant.core import codec, errors
from quintant.core.errors import Undecodable
from quintant.operators.infra.builders import unpacked_template
from quintant.operators.infra.observed import kubeconfig
from quintant.operators.infra.remote.errors import error_text
from quintant.operators.infra.remote.im_answers import document
from quintant.operators.portal import remote as portal_remote
from quintant.operators.shifu.observed.instruction_names import instruction_names
from quintant.wire import comet, portal
from quintant.wire.foreign import MOST_BYTES, MalformedInput, decode_json, decode_yaml
from testbeds.liars import lie

PRODUCT = Path(codec.__file__).parents[1]
DECODERS = {
    "msgspec.json.decode", "msgspec.json.Decoder", "msgspec.msgpack.decode",
    "msgspec.msgpack.Decoder", "msgspec.yaml.decode", "msgspec.toml.decode", "json.load",
    "json.loads", "json.JSONDecoder", "yaml.load", "yaml.load_all", "yaml.safe_load",
    "yaml.safe_load_all", "yaml.unsafe_load", "yaml.full_load", "tomllib.load", "tomllib.loads",
    "pickle.load", "pickle.loads", "marshal.load", "marshal.loads", "ast.literal_eval",
}  # fmt: skip
OWN = "reads back what it wrote itself, a line before"
SERVER = "an answer of the API server, whose errors are codec.BROKEN"
REASONS = {
    "wire/foreign.py": "the one place",
    "wire/foreign_yaml.py": "the one place, for YAML",
    "core/codec.py": SERVER,
    "core/errors.py": SERVER,
    "core/object.py": "a part of an object that was decoded; a reconcile reads it, and fails",
    "core/schema/markers.py": OWN,
    "core/schema/openapi.py": OWN,
    "client/undeclared_fields.py": OWN,
    "runtime/watch/applied_fields.py": SERVER,
    "runtime/watch/managed_fields.py": SERVER,
    "runtime/watch/watch_events.py": SERVER,
    "runtime/webhook/admission.py": "an object that was decoded whole just before",
    "runtime/webhook/conversion.py": "a part of a review that was decoded",
    "client/json_patch.py": OWN,
    "origin.py": "a file of the installation itself",
    "console/differences.py": SERVER,
    "console/server/plain.py": OWN,
    "console/views.py": SERVER,
    "agents/apiclient/client.py": "the standard library alone, for its memory; depth is caught",
    "agents/apiclient/errors.py": "as its client",
    "agents/apiclient/watch.py": "as its client",
    "agents/relay/tunnel/tokens.py": "names the field that nobody knows, to who wrote the file",
    "agents/chainsim/home.py": "files of a modelled node, for tests",
    "agents/cosmosnode/config_merge.py": "TOML of its ConfigMap; what is deep is its error",
    "agents/cosmosnode/fetch.py": "a genesis of hundreds of megabytes, looked at where it is",
    "agents/embedded_node.py": "a variable that the node sets",
    "agents/volumes.py": "a file that the node writes",
    "agents/imsimulator/cluster.py": "a kubeconfig that it wrote itself",
    "agents/lightpeer/chain/block.py": "the original's own form; its depth is Unsound",
    "agents/lightpeer/disk/record.py": "its own disk; what is deep is Unsound",
    "kopf/persist/essence.py": "an annotation that anybody edits; what is deep means nothing",
    "kopf/run/webhooks.py": "a review, of limited size; what is deep is a 400",
    "preview/cluster_copy.py": "an object of the API server; what is deep is left out, and said",
    "preview/dry_run.py": "what the manager sends; what is deep is sent as it is, or not at all",
    "runtime/cache/partial/skim.py": SERVER,
    "preview/live_reader.py": "an answer of the API server; what is deep is a LiveRefusal",
    "preview/object_diffs.py": OWN,
    "preview/transport.py": "what the manager sends and hears; what is deep has no name",
    "operators/cosmos/builders/config_map_builder.py": OWN,
    "operators/cosmos/builders/node_key_builder.py": "a Secret of the operator",
    "operators/shifu/builders/config.py": OWN,
}  # fmt: skip
CHECKED = "a part of an object that the server decoded, checked and stored"
REASONS |= {
    "cluster/apiserver/authentication/service_accounts.py": "claims that this server signed",
    "cluster/apiserver/codec/body.py": "bodies as Kubernetes' server reads them: test_bombs.py",
    "cluster/apiserver/codec/protobuf_scalars.py": "bodies; what is deep is Malformed",
    "cluster/apiserver/codec/unknown_fields.py": "a body that was decoded before",
    "cluster/apiserver/golang/json.py": "the one place of the API server: NotJson is its error",
    "cluster/apiserver/crd/compiled.py": OWN,
    "cluster/apiserver/crd/conversion_webhook.py": OWN,
    "cluster/apiserver/crd/kinds.py": OWN,
    "cluster/apiserver/go_types/__init__.py": "tables of the installation itself",
    "cluster/apiserver/kinds/stored_json.py": CHECKED,
    "cluster/apiserver/reconcilers/clusterrole_aggregation.py": CHECKED,
    "cluster/apiserver/response/yaml.py": OWN,
    "cluster/apiserver/schema/defaults.py": OWN,
    "cluster/apiserver/schema/prune.py": OWN,
    "cluster/apiserver/storage/corruption.py": "its own file",
    "cluster/apiserver/structuredmerge/fieldset.py": CHECKED,
    "cluster/apiserver/validation/pods/pods.py": OWN,
    "cluster/apiserver/webhooks/dispatcher.py": OWN,
    "cluster/controllers/daemonset/placement.py": CHECKED,
    "cluster/controllers/job/plan.py": CHECKED,
    "cluster/controllers/namespaces/deletion.py": SERVER,
    "cluster/controllers/pods/templates.py": CHECKED,
    "cluster/controllers/statefulset/identity.py": CHECKED,
    "cluster/instance/kubeconfig.py": "a file of the user, looked at for our own name",
    "cluster/instance/recorder.py": SERVER,
    "cluster/instance/recording.py": "its own file; what is deep is a DamagedRecording",
    "cluster/kubelet/volume/projected.py": CHECKED,
    "agents/deviceshifu/drivers/modbus.py": "a caller's body; what is deep is a DeviceError",
    "agents/deviceshifu/drivers/opcua.py": "a caller's body; what is deep is a DeviceError",
    "agents/deviceshifu/drivers/socket.py": "a caller's body; what is deep is a DeviceError",
    "agents/telemetryservice.py": "what is deep is no reading",
}
ROOMS = {
    "testing/": "for tests",
    "demo/": "for demonstrations",
    "cli/": "shows what the API server answered to who called it",
}


def test_every_decoder_is_the_one_place_or_has_a_reason() -> None:
    found = {path for path, name in _calls() if name in DECODERS}
    left = {path for path in found if not path.startswith(tuple(ROOMS))}
    assert left - REASONS.keys() == set(), "read it with quintant.wire.foreign, or say why not"
    assert REASONS.keys() - left == set(), "a reason without a decoder"


@cache
def _calls() -> Sequence[tuple[str, str]]:
    """Every call in the product: the file, and the whole name of what is called."""
    return tuple(_walk_calls())


def _walk_calls() -> Iterator[tuple[str, str]]:
    for path in sorted(PRODUCT.rglob("*.py")):
        tree = ast.parse(path.read_bytes())
        names = dict(_imports(tree))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                first, *rest = ast.unparse(node.func).split(".")
                whole = ".".join([names.get(first, first), *rest])
                yield path.relative_to(PRODUCT).as_posix(), whole


def _imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((each.asname or each.name.split(".")[0], (each.asname and each.name)
                         or each.name.split(".")[0]) for each in node.names)  # fmt: skip
        elif isinstance(node, ast.ImportFrom):
            yield from ((each.asname or each.name, f"{node.module}.{each.name}")
                        for each in node.names)  # fmt: skip


def _answer(body: bytes) -> ApiResponse:
    return ApiResponse(200, body, {})


def _frame(body: bytes) -> Any:
    return portal.document(portal.Frame(portal.FrameKind.HELLO, 0, body), portal.Hello)


def _review(body: bytes) -> Any:
    return read_review_response(_answer(body), "v1", "u", mutating=True)


@cache
def _config_maps() -> Kind:
    (kind,) = [each for each in builtin_kinds() if each.resource.plural == "configmaps"]
    return kind


def _last_applied(body: bytes) -> Any:
    live = {"metadata": {"annotations": {client_side_apply.ANNOTATION: body.decode("latin-1")}}}
    return client_side_apply.fields_to_take_over(_config_maps(), live, client_side_apply.MANAGER)


def _modbus(body: bytes) -> Any:
    return modbus._wanted(body, ModbusPoint("holding", 0, 1, "uint16", "big", 1, 1.0, 0.0))


STATUS = (
    b'{"result": {"node_info": {"network": "hub"}, "sync_info": {"latest_block_height": "7",'
    b' "catching_up": false}, "validator_info": {}}}'
)
READERS: dict[str, tuple[Callable[[bytes], Any], bytes, tuple[type[Exception], ...]]] = {
    "json": (decode_json, STATUS, (MalformedInput,)),
    "yaml": (decode_yaml, STATUS, (MalformedInput,)),
    "wire/comet.py": (comet.parse_status, STATUS, (comet.MalformedStatus,)),
    "wire/portal.py": (_frame, b'{"v": 1, "names": ["a"]}', (portal.MalformedFrame,)),
    "wire/portal.py close": (lambda raw: portal.read_reason(1000, raw), b'{"msg": "x"}', ()),
    "operators/portal/remote.py": (portal_remote.parse, b'{"v": 1, "seq": 3}', ()),
    "operators/infra/remote/im_answers.py": (lambda raw: document(_answer(raw)), STATUS, ()),
    "operators/infra/remote/errors.py": (
        lambda raw: error_text(404, raw), b'{"message": "x", "code": 404}', ()
    ),
    "operators/infra/observed/kubeconfig.py": (
        lambda raw: kubeconfig.kubeconfig_of({kubeconfig.OUTPUT: raw.decode("latin-1")}),
        b'{"clusters": []}', (),
    ),
    "operators/infra/builders.py": (unpacked_template, b'{"a": 1}', ()),
    "agents/relay/tunnel/tokens.py": (tokens.parse, b'{"tokens": []}', (ValueError,)),
    "agents/tunnel/options.py": (
        lambda raw: tunnel_options._named(raw.decode("latin-1")), b'[{"name": "a"}]', (ValueError,)
    ),
    "agents/apiclient/client.py": (
        lambda raw: apiclient._object(200, raw), STATUS, (apiclient_errors.ApiRefused,)
    ),
    "agents/apiclient/errors.py": (lambda raw: apiclient_errors.refused(500, raw), STATUS, ()),
    "agents/apiclient/watch.py": (
        apiclient_watch._event, STATUS, (apiclient_errors.ApiUnreachable,)
    ),
    "agents/imsimulator/template.py": (
        lambda raw: template.load(raw.decode("latin-1")), STATUS, (template.TemplateError,)
    ),
    "core/codec.py": (lambda raw: codec.decode(ConfigMap, raw), b'{"data": {}}', (Undecodable,)),
    "core/codec.py page": (
        lambda raw: codec.decode_page(ConfigMap, raw), b'{"items": []}', (Undecodable,)
    ),
    "core/codec.py reply": (codec.decode_reply, STATUS, (Undecodable,)),
    "cluster/apiserver/golang/json.py": (golang_json.decode, STATUS, (golang_json.NotJson,)),
    "cluster/apiserver/webhooks/http_reply.py": (
        lambda raw: http_reply.read_document(_answer(raw)), STATUS, (http_reply.NoDocument,)
    ),
    "cluster/apiserver/webhooks/http_reply.py refusal": (
        lambda raw: http_reply.read_document(ApiResponse(500, raw)), b'{"kind": "Status"}',
        (http_reply.NoDocument,),
    ),
    "cluster/apiserver/webhooks/response.py": (
        _review, b'{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": '
        b'{"uid": "u", "allowed": true, "patch": "W10=", "patchType": "JSONPatch", "status": '
        b'{"code": 403}, "warnings": ["x"]}}', (InvalidReviewResponse,),
    ),
    "cluster/apiserver/authentication/service_accounts.py": (
        service_accounts._issuer, b'{"iss": "x"}', ()
    ),
    "cluster/apiserver/conversion/autoscaling.py": (
        lambda raw: autoscaling._decoded(raw.decode("latin-1")), b'[{"type": "Resource"}]', ()
    ),
    "cluster/apiserver/fieldmanager/client_side_apply.py": (_last_applied, STATUS, ()),
    "agents/deviceshifu/config/yaml_text.py": (
        lambda raw: yaml_text.load_text(raw.decode("latin-1")), b'{"a": 1}', (SectionError,)
    ),
    "agents/deviceshifu/drivers/modbus.py": (_modbus, b'{"value": 1}', (DeviceError,)),
    "agents/deviceshifu/drivers/opcua.py": (opcua._wanted, b'{"value": 1}', (DeviceError,)),
    "agents/deviceshifu/drivers/socket.py": (
        lambda raw: device_socket._decode_command(raw, SocketFormat()),
        b'{"command": "x", "timeout": 1}', (DeviceError,),
    ),
    "agents/telemetryservice.py": (
        telemetryservice.read_mqtt, b'{"mqttSetting": {"MQTTTopic": "a", "MQTTServerAddress": "b"},'
        b' "rawData": "YQ=="}', (ValueError,),
    ),
    "cluster/apiserver/streaming/channels.py": (
        channels.read_size, b'{"Width": 80, "Height": 24}', ()
    ),
    "cluster/apiserver/storage/snapshot_file.py": (
        snapshot_file.decode_snapshot,
        snapshot_file.encode_snapshot(RevisionStore(now=lambda: 0.0).snapshot()),
        (snapshot_file.UnusableSnapshot,),
    ),
    "cluster/instance/records.py": (
        records.read_record, b'{"pid": 1, "url": "x", "kubeconfig": "x", "started": 1.0}', ()
    ),
    "operators/shifu/observed/instruction_names.py": (
        lambda raw: instruction_names(raw.decode("latin-1")), b'{"instructions": {"read": {}}}', ()
    ),
    "core/errors.py": (lambda raw: errors.from_reply(500, raw), b'{"message": "x"}', ()),
}  # fmt: skip
ELSEWHERE = {
    "client/config/exec_plugin.py": "tests/unit/client/config: the plugin's output",
    "client/config/untrusted.py": "tests/unit/client/config/test_untrusted.py: strangers' texts",
    "cli/cluster/clock.py": "an answer of the API server of our own process",
    "cluster/instance/cluster_clock.py": "MalformedInput is a ValueError, which it catches",
    "cli/cluster/restore.py": "an answer of the API server of our own process",
    "kopf/run/discovering.py": "an answer of the API server, as core/codec.py reply",
    "kopf/run/patching.py": "an answer of the API server, as core/codec.py reply",
    "kopf/run/watching.py": "an answer of the API server, as core/codec.py reply",
    "preview/dry_run.py": "an answer of the API server, as core/codec.py reply",
    "operators/shifu/sample/caller.py": "asks our own agents, for the demonstration",
    "client/rest_mapper.py": "an answer of the API server, as core/codec.py reply",
    "console/console.py": "an answer of the API server, as core/codec.py reply",
    "console/server/access.py": "an answer of the API server, as core/codec.py reply",
    "agents/chainsim/gossip.py": "a modelled node, for tests",
    "agents/cosmosnode/config_merge.py": "MalformedInput is a ValueError, which it catches",
    "agents/cosmosnode/state_sync.py": "MalformedInput is a ValueError, which it catches",
    "agents/imsimulator/api.py": "MalformedInput is a ValueError, which it catches",
}
LIES = [
    b"", b"[" * 1_000, b"[" * 100_000, b'{"a":' * 1_000, b'{"result":' * 70 + b"1" + b"}" * 70,
    b"[" * 900 + b"]" * 900, b" " * (MOST_BYTES + 1), b"[0" + b",0" * MOST_BYTES, b'{"a": "x',
    b"\xff\xfe", b'{"data": "\xff"}', b'{"message": "\xed\xa0\x80"}', b"null", b"7", b"[]", b'"x"',
    b"{}", b"NaN", b'{"seq": NaN, "v": Infinity}', b'{"v": 9223372036854775808}', b'{"v": 1e999}',
    b'{"v": ' + b"9" * 5_000 + b"}", b"<html>", b"- " * 1_000, b"&a [*a]", b"\x00",
]  # fmt: skip


@pytest.mark.parametrize("name", READERS)
def test_only_declared_errors_come_out_of_a_reader(name: str) -> None:
    read, truth, declared = READERS[name]
    for body in (*LIES, *(lie(seed, truth).body for seed in range(190))):
        with suppress(*declared):
            read(body)


def test_every_reader_is_fed() -> None:
    one_place = ("decode_json", "decode_yaml", "decode_reply")
    users = {path for path, name in _calls() if name.rpartition(".")[2] in one_place}
    own = {"wire/foreign.py", "client/discovery.py", "client/subresource.py", "doctor.py"}
    fed = {name.partition(" ")[0] for name in READERS} | ELSEWHERE.keys() | own
    assert {each for each in users if not each.startswith(("runtime/", *ROOMS))} - fed == set()
