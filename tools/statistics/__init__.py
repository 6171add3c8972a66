"""How sure a number is: intervals, tests, families and power, chosen by simulated coverage.

Which method serves which number, and why, is in docs/ (methods); each function names its source.
Everything takes counts or arrays of independent items (one item = one patient), and says
"not_estimable" with a reason where there is nothing to say; nothing has an interval of zero width.
"""
