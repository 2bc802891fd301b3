"""Where keys come from: watches, channels, conversations with what is outside."""
