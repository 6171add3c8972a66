"""Mending a model: what it is trained on, what is asked before and after, and what it learned."""
