"""Plots as plain SVG text: readable without a script, in light, dark and print.

Colours stand as attributes (a PDF printer ignores page CSS inside SVG) and as classes, by which a
page's CSS variables override them (palette.py). A plot takes small frozen dataclasses, never
records: what it shows is decided by the caller.
"""
