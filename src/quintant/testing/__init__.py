"""The kit for testing controllers: virtual time, an in-process cluster, faults."""
