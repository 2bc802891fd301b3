"""What has to be true of a release before anything of it is published."""
