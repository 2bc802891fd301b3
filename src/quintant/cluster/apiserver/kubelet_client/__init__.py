"""What the API server asks of those who run pods: logs and usage, as pkg/kubelet/client does."""
