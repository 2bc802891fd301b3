"""Portal Expose: from a Service to a public URL."""
