"""Images as files: one archive of an image under several names, each with a program of its own.

An OCI layout is a folder of blobs by their digests, and an index that names manifests. A further
name with another program is a new configuration and a new manifest over the same layers: a few
hundred bytes.
"""

import hashlib
import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NAME = "io.containerd.image.name"
"""By which containerd names what it imports."""
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_LAYER = "application/vnd.oci.image.layer.v1.tar"
_CONFIG = "application/vnd.oci.image.config.v1+json"

Plain = dict[str, Any]


@dataclass(frozen=True)
class ImageLayout:
    """A folder with one image in it, as `buildah push oci:` writes it."""

    folder: Path

    def add(self, entrypoint: Sequence[str], labels: Mapping[str, str]) -> Plain:
        """Add an image with the same layers and another program; its descriptor."""
        manifest = self._read(self.first())
        config = self._read(manifest["config"])
        changed = {
            **config.get("config", {}),
            "Entrypoint": list(entrypoint),
            "Cmd": [],
            "Labels": dict(labels),
        }
        described = self._write({**config, "config": changed}, _CONFIG)
        return self._write({**manifest, "config": described}, _MANIFEST)

    def add_layer(self, layer: bytes) -> Plain:
        """Add an image with one layer more; its descriptor."""
        manifest = self._read(self.first())
        config = self._read(manifest["config"])
        digest = self._save(layer)
        root = {**config["rootfs"], "diff_ids": [*config["rootfs"]["diff_ids"], digest]}
        layers = [*manifest["layers"], {"mediaType": _LAYER, "digest": digest, "size": len(layer)}]
        described = self._write({**config, "rootfs": root, "history": []}, _CONFIG)
        return self._write({**manifest, "config": described, "layers": layers}, _MANIFEST)

    def first(self) -> Plain:
        """The descriptor of the image that it was made with."""
        index = json.loads((self.folder / "index.json").read_text())
        found: Plain = index["manifests"][0]
        return found

    def archive(self, images: Mapping[str, Plain], target: Path) -> None:
        """Write an archive of images by name, as `ctr images import` reads it."""
        named = [
            {**descriptor, "annotations": {_NAME: name}} for name, descriptor in images.items()
        ]
        fresh = target.with_suffix(".new")
        index = fresh.with_suffix(".index")
        index.write_text(json.dumps({"schemaVersion": 2, "manifests": named}))
        with tarfile.open(fresh, "w") as tar:
            tar.add(index, "index.json")
            tar.add(self.folder / "oci-layout", "oci-layout")
            tar.add(self.folder / "blobs", "blobs")
        index.unlink()
        fresh.rename(target)

    def _read(self, descriptor: Mapping[str, Any]) -> Plain:
        found: Plain = json.loads(self._blob(descriptor["digest"]).read_text())
        return found

    def _write(self, document: Plain, kind: str) -> Plain:
        data = json.dumps(document, sort_keys=True).encode()
        return {"mediaType": kind, "digest": self._save(data), "size": len(data)}

    def _save(self, data: bytes) -> str:
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        self._blob(digest).write_bytes(data)
        return digest

    def _blob(self, digest: str) -> Path:
        return self.folder / "blobs" / Path(*digest.split(":"))
