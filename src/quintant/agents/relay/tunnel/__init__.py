"""The side of a relay that tunnels connect to: names, tokens, streams."""
