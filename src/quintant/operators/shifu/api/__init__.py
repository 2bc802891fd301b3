"""The kinds of shifu: edge devices, the nodes they are served from, where their telemetry goes."""
