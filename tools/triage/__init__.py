"""Ordered decisions on pairs that differ in one attribute: how often they move, and which way.

Levels are places on the data set's ordered list, 0 the lowest number. "Up" is a higher number.
Whether that is less or more urgent is declared by the data set (`Direction`), printed beside each
number, and needed for a verdict; nothing here guesses it. Groups a and b: "a->b" are the visits of
patients of group a, shown as they are and then as b. The formulas are those of the counterfactual
paper, section 2.3, for any two of k groups.
"""
