"""In which unit a number is said; the words for each are in tools/wording.py."""

from typing import Literal

Unit = Literal["rate", "net_rate", "score", "score_difference", "divergence", "grade"]
"""rate: share, said in per cent; net_rate: difference of shares, in points; score: 0 to 1;
score_difference: signed; divergence: 0 to 1, three digits; grade: 1 to 5."""
