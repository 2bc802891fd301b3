"""What a device becomes: a Deployment on one node, a Service in front of it, a ConfigMap. Pure."""
