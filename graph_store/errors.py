"""The two ways in which a run ends early without a fault in the program."""


class UserError(Exception):
    """A mistake of the user's: one sentence that names the value, what was expected, what to do.

    Raised before anything is written; printed once, in ui/cli.py, with exit code 2.
    """


class RunStopped(Exception):
    """A node gave up its work before the end: paused, cancelled, or out of budget.

    A node must raise it rather than return: a node that returns counts as done.
    """
