"""The API server, as kube-apiserver: in the order in which a request meets its rooms."""
