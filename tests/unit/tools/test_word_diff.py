"""The pieces of a diff spell both texts, and name a swap alone."""

from hypothesis import given
from hypothesis import strategies as st

from evenhand.tools.word_diff import Piece, word_diff

words = st.text(alphabet="ab \n.é<&", max_size=40)


@given(words, words)
def test_the_pieces_spell_both_texts(before: str, after: str) -> None:
    pieces = word_diff(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "added") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "removed") == after


def test_a_swap_of_one_word_is_one_removed_and_one_added_piece() -> None:
    assert word_diff("from Leeds, ill", "from Accra, ill") == [
        Piece("same", "from "),
        Piece("removed", "Leeds"),
        Piece("added", "Accra"),
        Piece("same", ", ill"),
    ]


def test_equal_texts_have_no_change() -> None:
    assert word_diff("same", "same") == [Piece("same", "same")]
    assert word_diff("", "") == []
