"""The two versions everything agrees on: ours, and the Kubernetes release we speak."""

QUINTANT = "0.1.0"

# What the embedded server advertises, what the real pair is built from, what schema tables follow.
KUBERNETES = "v1.36.3"
