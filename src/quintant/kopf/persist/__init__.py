"""What is kept on an object between two calls, in the form in which kopf keeps it."""
