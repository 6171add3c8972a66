"""Do attributes changed together change more than each alone?"""

from evenhand.tools.metrics import Scores, Values, metric, scored_mean


@metric(
    symbol="I",
    bounds=(-3.0, 3.0),
    source="ours: interaction contrast on paper 1's intersections",
    data="interactions",
)
def interaction(parts: Scores) -> Values:
    """Interaction contrast: mean over items of together - sum of each alone + (k - 1) repeat.

    0: on the scale of shares, together changes what each alone adds up to. Above 0: more than
    that; +1 is a change that comes only together. Below 0: less, as where two effects hit the same
    item, which can change only once. A variant alone has the value that it has together.

    Args:
        parts: Changes of an item (together, repeat, each alone), shape (..., n, 2 + k), of 0 and 1;
            an item with NaN is unscored and left out.

    Returns:
        Shape (...), in [-k, k]; NaN where no item is complete.
    """
    k = parts.shape[-1] - 2
    contrast = parts[..., 0] - parts[..., 2:].sum(axis=-1) + (k - 1) * parts[..., 1]
    return scored_mean(contrast)
