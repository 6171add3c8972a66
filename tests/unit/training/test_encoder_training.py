"""What is hidden from the encoder, and what comes of it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenhand.training.encoder_tokens import MASK, PAD, SPECIAL
from evenhand.training.encoder_training import hide


@given(st.integers(1, 6), st.integers(3, 40), st.integers(0, 10_000))
def test_specials_are_never_asked_for_and_every_text_is_asked(
    batch: int, length: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    ids = rng.integers(len(SPECIAL), 300, (batch, length))
    ids[:, 0], ids[:, -1] = 0, PAD
    shown, asked = hide(ids, 300, 0.15, rng)
    assert not asked[:, [0, -1]].any()
    assert asked.any(axis=1).all()
    assert (shown[~asked] == ids[~asked]).all()
    assert ((shown >= len(SPECIAL)) | (shown == MASK))[asked].all()


def test_a_share_is_asked_for_and_most_of_it_is_hidden() -> None:
    rng = np.random.default_rng(0)
    ids = rng.integers(len(SPECIAL), 5_000, (200, 200))
    shown, asked = hide(ids, 5_000, 0.15, rng)
    assert abs(asked.mean() - 0.15) < 0.01
    assert abs((shown == MASK)[asked].mean() - 0.8) < 0.02
    assert abs((shown == ids)[asked].mean() - 0.1) < 0.02
