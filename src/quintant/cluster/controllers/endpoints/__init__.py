"""Endpoints and EndpointSlices of services."""
