"""The controller runtime: types, client, watch, queue, controller, manager."""
