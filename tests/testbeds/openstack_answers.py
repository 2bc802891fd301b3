"""What the small OpenStack says, as far as IM's connector reads it; the fields are OpenStack's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

Plain = dict[str, Any]
LONG_AGO = "2026-01-01T00:00:00Z"
TOKEN_LIFE = timedelta(hours=1)
DOMAIN = {"id": "default", "name": "Default"}
# The connector finds services by these names.
SERVICES = {
    "compute": ("nova", "/compute/v2.1"),
    "network": ("neutron", "/network"),
    "image": ("glance", "/image"),
    "volumev2": ("cinderv2", "/volume/v3/p1"),
    "volumev3": ("cinderv3", "/volume/v3/p1"),
    "identity": ("keystone", "/v3"),
}
FLAVOR: Plain = {
    "id": "f1",
    "name": "m1.small",
    "ram": 4096,
    "vcpus": 2,
    "disk": 20,
    "swap": "",
    "rxtx_factor": 1.0,
    "links": [],
    "extra_specs": {},
    "OS-FLV-EXT-DATA:ephemeral": 0,
    "OS-FLV-DISABLED:disabled": False,
    "os-flavor-access:is_public": True,
}
IMAGE: Plain = {
    "id": "img1",
    "name": "ubuntu",
    "status": "active",
    "visibility": "public",
    "container_format": "bare",
    "disk_format": "qcow2",
    "min_disk": 0,
    "min_ram": 0,
    "size": 1,
    "checksum": "x",
    "created_at": LONG_AGO,
    "updated_at": LONG_AGO,
    "owner": "p1",
    "protected": False,
    "tags": [],
    "self": "/v2/images/img1",
    "file": "/v2/images/img1/file",
    "schema": "/v2/schemas/image",
}


def _network(name: str, subnet: str, *, external: bool) -> Plain:
    return {
        "id": name,
        "name": name,
        "status": "ACTIVE",
        "subnets": [subnet],
        "router:external": external,
        "tenant_id": "p1",
        "admin_state_up": True,
        "shared": external,
    }


def _subnet(name: str, cidr: str, network: str) -> Plain:
    return {
        "id": name,
        "name": name,
        "cidr": cidr,
        "network_id": network,
        "ip_version": 4,
        "enable_dhcp": True,
        "gateway_ip": None,
        "dns_nameservers": [],
        "allocation_pools": [],
    }


NETWORKS = (
    _network("private", "subnet-private", external=False),
    _network("public", "subnet-public", external=True),
)
SUBNETS = [
    _subnet("subnet-private", "10.0.0.0/24", "private"),
    _subnet("subnet-public", "127.0.0.0/8", "public"),
]
UNAUTHORIZED: Plain = {
    "error": {
        "code": 401,
        "message": "The request you have made requires authentication.",
        "title": "Unauthorized",
    }
}
OVER_QUOTA: Plain = {"forbidden": {"code": 403, "message": "Quota exceeded for instances"}}


def not_found(what: str) -> Plain:
    """What Nova says of something that is not there."""
    return {"itemNotFound": {"code": 404, "message": f"{what} could not be found."}}


def with_id(given: Plain) -> Plain:
    """What was asked for, with an id."""
    return {"id": str(uuid4()), **given}


def group(given: Plain) -> Plain:
    """A security group."""
    return {"tenant_id": "p1", "security_group_rules": [], **with_id(given)}


def token(url: str, user: str, project: str) -> Plain:
    """What Keystone says to a login that it accepts, with the catalog of services."""
    until = (datetime.now(UTC) + TOKEN_LIFE).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
    return {
        "token": {
            "methods": ["password"],
            "issued_at": "2026-01-01T00:00:00.000000Z",
            "expires_at": until,
            "user": {"id": "u1", "name": user, "domain": DOMAIN},
            "project": {"id": "p1", "name": project, "domain": DOMAIN},
            "roles": [{"id": "r1", "name": "member"}],
            "catalog": [
                {"type": kind, "name": name, "id": kind, "endpoints": _endpoints(kind, url + path)}
                for kind, (name, path) in SERVICES.items()
            ],
        }
    }


def _endpoints(kind: str, url: str) -> list[Plain]:
    return [
        {
            "id": f"{kind}-{interface}",
            "interface": interface,
            "region": "RegionOne",
            "region_id": "RegionOne",
            "url": url,
        }
        for interface in ("public", "internal", "admin")
    ]


def server(url: str, asked: Plain, address: str) -> Plain:
    """A server as Nova tells it, right after it was made."""
    name = str(uuid4())
    fixed = {"OS-EXT-IPS:type": "fixed", "OS-EXT-IPS-MAC:mac_addr": "fa:16:3e:00:00:01"}
    return {
        "id": name,
        "name": asked["name"],
        "status": "ACTIVE",
        "tenant_id": "p1",
        "user_id": "u1",
        "hostId": "h1",
        "created": LONG_AGO,
        "updated": LONG_AGO,
        "accessIPv4": "",
        "accessIPv6": "",
        "progress": 0,
        "metadata": asked.get("metadata", {}),
        "key_name": None,
        "config_drive": "",
        "OS-EXT-STS:vm_state": "active",
        "OS-EXT-STS:task_state": None,
        "OS-EXT-STS:power_state": 1,
        "OS-EXT-AZ:availability_zone": "nova",
        "OS-DCF:diskConfig": "MANUAL",
        "os-extended-volumes:volumes_attached": [],
        "image": {"id": IMAGE["id"], "links": []},
        "flavor": {"id": FLAVOR["id"], "links": []},
        "links": [{"rel": "self", "href": f"{url}/compute/v2.1/servers/{name}"}],
        "security_groups": [],
        "addresses": {"private": [{"addr": address, "version": 4, **fixed}]},
    }
