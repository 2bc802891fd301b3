"""A service account of any API server as a pod has it: the files that a kubelet would mount."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

from quintant import Client, Config


async def mounted_account(
    config: Config, client: Client, name: str, namespace: str, folder: Path
) -> dict[str, str]:
    """Write token, authority and namespace into a folder; the variables that tell of them."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
    asked = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {}}
    reply = await client.raw(
        "POST", path, body=json.dumps(asked).encode(), headers={"content-type": "application/json"}
    )
    (folder / "token").write_text(json.loads(reply)["status"]["token"])
    assert config.trust.authority is not None
    (folder / "ca.crt").write_bytes(config.trust.authority.read().reveal())
    (folder / "namespace").write_text(namespace)
    server = urlsplit(config.server)
    return {
        "KUBERNETES_SERVICE_HOST": server.hostname or "",
        "KUBERNETES_SERVICE_PORT": str(server.port),
        "QUINTANT_SERVICE_ACCOUNT": str(folder),
    }
