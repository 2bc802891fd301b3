"""Decoding: from bodies (JSON, YAML, protobuf) and query parameters to documents and options."""
