"""How sure a number is: intervals, tests, families and power, chosen by simulated coverage.

Each function names its method and source. Everything takes counts or arrays of independent items
(one item = one patient), says "not_estimable" with a reason where there is nothing to say, and has
no interval of zero width.
"""
