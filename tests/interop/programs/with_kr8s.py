"""What users of kr8s do: objects, patch, labels, list, watch, wait, scale."""

# mypy: ignore-errors

import kr8s
from kr8s.objects import ConfigMap, Deployment

a = ConfigMap({"metadata": {"name": "a", "namespace": "default"}, "data": {"k": "v"}})
a.create()
a.patch({"data": {"k": "w"}})
a.label({"seen": "yes"})
assert ConfigMap.get("a").data.k == "w"
assert [each.name for each in kr8s.get("configmaps", label_selector="seen=yes")] == ["a"]

template = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "web", "image": "web"}]},
}
spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
web = Deployment({"metadata": {"name": "web", "namespace": "default"}, "spec": spec})
web.create()
web.scale(2)
web.wait("condition=Available", timeout=30)
assert {each.status.phase for each in web.pods()} <= {"Running", "Pending"}
for event, found in kr8s.watch("deployments"):
    assert (event, found.name) == ("ADDED", "web")
    break

a.delete()
a.wait("delete", timeout=30)
assert not a.exists()
print("done")
