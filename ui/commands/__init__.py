"""The verbs of `evenhand`: a module a verb, with its click command as `command`."""
