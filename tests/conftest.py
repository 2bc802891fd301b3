"""What all tests share: the fixtures and the virtual time of the kit for users."""

pytest_plugins = ["quintant.testing.plugin"]
