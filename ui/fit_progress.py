"""How far a fit is: loss, rate and time left, on the terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from evenhand.training.lent import FitProgress

_LINES = 20
"""Where there is no terminal: lines of a stage."""


@contextmanager
def fit_progress(console: Console) -> Iterator[Callable[["FitProgress"], None]]:
    """Yield what shows a fit's progress: one line that changes, or some lines in a log."""
    if not console.is_terminal:
        yield lambda progress: _in_lines(console, progress)
        return
    with console.status("") as status:
        yield lambda progress: status.update(progress_text(progress))


def progress_text(progress: "FitProgress") -> str:
    """Return a fit's progress in words.

    Example:
        >>> from evenhand.training.lent import FitProgress
        >>> progress_text(FitProgress("training", 10, 75, 1.25, 2.5, 208.0))
        'training: step 10 of 75, loss 1.250, 2.5 visits a second, 0:03:28 left'
    """
    loss = "" if progress.loss is None else f", loss {progress.loss:.3f}"
    left = timedelta(seconds=round(progress.seconds_left))
    return (
        f"{progress.stage}: step {progress.step} of {progress.steps}{loss}, "
        f"{progress.examples_per_second:.1f} visits a second, {left} left"
    )


def _in_lines(console: Console, progress: "FitProgress") -> None:
    if progress.step % max(1, progress.steps // _LINES) == 0 or progress.step == progress.steps:
        console.print(progress_text(progress))
