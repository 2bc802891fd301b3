"""An operator of a few lines that speaks plain HTTP: python plain_operator.py --kubeconfig FILE.

For each Widget it makes a ConfigMap, and notes its name in the status. With `--twice` it lets the
server make up the name, and so makes a second one if it is killed in between. With `--poll SECONDS`
it annotates every Widget again and again; with `--leave-child` it starts a process that would
outlive it. With `--starts FILE` it counts its starts there, and children of the fourth and later
ones are others: chance, as it looks to who has made three runs.

It loads nothing but the standard library: it is as foreign as a program can be.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

WIDGETS = "/apis/demo.dev/v1/namespaces/default/widgets"
CHILDREN = "/api/v1/namespaces/default/configmaps"
MERGE = "application/merge-patch+json"
RETRY_SECONDS = 1.0
ALIKE = 3
"""Starts whose children are the same."""


class Server:
    """The API server of a kubeconfig."""

    def __init__(self, path: str) -> None:
        with open(path) as file:
            document = json.load(file)
        cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
        self._address = cluster["server"].removeprefix("https://")
        decoded = {
            name: base64.b64decode(value).decode()
            for name, value in {**cluster, **user}.items()
            if name.endswith("-data")
        }
        self._context = ssl.create_default_context(cadata=decoded["certificate-authority-data"])
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(decoded["client-certificate-data"] + decoded["client-key-data"])
            file.flush()
            self._context.load_cert_chain(file.name)

    def open(
        self, method: str, path: str, body: Any = None, content: str = "application/json"
    ) -> http.client.HTTPResponse:
        connection = http.client.HTTPSConnection(self._address, context=self._context)
        raw = None if body is None else json.dumps(body)
        connection.request(method, path, raw, {"content-type": content, "user-agent": "plain"})
        return connection.getresponse()

    def ask(self, *request: Any) -> Any:
        answer = self.open(*request)
        body = json.load(answer)
        if answer.status >= 400:
            raise OSError(f"{request[0]} {request[1]}: {answer.status} {body.get('message')}")
        return body


def reconcile(server: Server, widget: Any, twice: bool, late: bool) -> None:
    """Make what a Widget asks for."""
    meta = widget["metadata"]
    if meta.get("deletionTimestamp") or widget.get("status", {}).get("child"):
        return
    owner = {"apiVersion": "demo.dev/v1", "kind": "Widget", "name": meta["name"]}
    child: Any = {
        "metadata": {"ownerReferences": [{**owner, "uid": meta["uid"]}]},
        "data": {"text": widget["spec"].get("message", "")},
    }
    if late:
        child["data"]["late"] = "yes"
    naming = {"generateName": f"{meta['name']}-"} if twice else {"name": meta["name"]}
    child["metadata"].update(naming)
    made = make(server, child)
    status = {"status": {"child": made}}
    server.ask("PATCH", f"{WIDGETS}/{meta['name']}/status", status, MERGE)


def make(server: Server, child: Any) -> str:
    """Make a child, unless it is there."""
    answer = server.open("POST", CHILDREN, child)
    body = json.load(answer)
    if answer.status == 409 and "name" in child["metadata"]:
        return str(child["metadata"]["name"])
    if answer.status >= 400:
        raise OSError(f"cannot make a child: {answer.status}")
    return str(body["metadata"]["name"])


def follow(server: Server, twice: bool, late: bool) -> None:
    """List and watch Widgets, for ever."""
    listed = server.ask("GET", WIDGETS)
    for widget in listed["items"]:
        reconcile(server, widget, twice, late)
    version = listed["metadata"]["resourceVersion"]
    stream = server.open("GET", f"{WIDGETS}?watch=1&resourceVersion={version}")
    for line in stream:
        event = json.loads(line)
        if event["type"] == "ERROR":
            return
        if event["type"] in ("ADDED", "MODIFIED"):
            reconcile(server, event["object"], twice, late)


def poll(server: Server, seconds: float) -> None:
    """Annotate every Widget again and again."""
    change = {"metadata": {"annotations": {"demo.dev/polled": "yes"}}}
    while True:
        time.sleep(seconds)
        try:
            for widget in server.ask("GET", WIDGETS)["items"]:
                server.ask("PATCH", f"{WIDGETS}/{widget['metadata']['name']}", change, MERGE)
        except OSError as error:
            print(error, flush=True)


def starts(path: str) -> int:
    """Count one more start; how many there are."""
    with open(path, "a+") as file:
        file.write("started\n")
        file.seek(0)
        return len(file.readlines())


def main() -> None:
    """Work until killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--poll", type=float)
    parser.add_argument("--leave-child", action="store_true")
    parser.add_argument("--starts")
    options = parser.parse_args()
    late = bool(options.starts) and starts(options.starts) > ALIKE
    server = Server(options.kubeconfig)
    print(f"works as {os.getpid()}", flush=True)
    if options.leave_child:
        sleeper = [sys.executable, "-c", "import time; time.sleep(600)"]
        subprocess.Popen(sleeper, start_new_session=True)
    if options.poll:
        threading.Thread(target=poll, args=(server, options.poll), daemon=True).start()
    while True:
        try:
            follow(server, options.twice, late)
        except (OSError, http.client.HTTPException, ValueError) as error:
            print(error, flush=True)
            time.sleep(RETRY_SECONDS)


if __name__ == "__main__":
    main()
