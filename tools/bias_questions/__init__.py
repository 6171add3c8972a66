"""Questions that compare two groups by an attribute: their parts, templates and grammar."""
