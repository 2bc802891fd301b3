"""Before a handler is chosen: who asks, whether they may, and the audit."""
