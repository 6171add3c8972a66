"""Products by halves are those of float32, to 16 bits."""

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.tools.scoring import products
from evenhand.tools.scoring.products import HalvedProducts, PlainProducts, Products

_open = import_module if os.environ.get("CI") else pytest.importorskip
torch: Any = _open("torch")
needs_onemkl = pytest.mark.skipif(
    products.bfloat16_product() is None and not os.environ.get("CI"),
    reason="this torch comes without oneMKL",
)

sizes = st.integers(1, 70)
KEPT = 2.0**-16
"""Of a number, by its two halves; the product of two leaves out about as much again."""


def random(*shape: int, spread: float = 1.0) -> Any:
    """Numbers of very different sizes, as states have them."""
    return torch.randn(*shape) * torch.exp(spread * torch.randn(*shape))


@pytest.mark.parametrize(
    ("open_way", "bound"),
    [
        (PlainProducts, 1e-6),
        pytest.param(lambda: HalvedProducts(anywhere=True), 4 * KEPT, marks=needs_onemkl),
    ],
)
@given(rows=sizes, inner=sizes, outer=sizes, room=st.integers(0, 9), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_a_product_is_that_of_the_numbers(
    open_way: Callable[[], Products],
    bound: float,
    rows: int,
    inner: int,
    outer: int,
    room: int,
    seed: int,
) -> None:
    torch.manual_seed(seed)
    states, matrix, before = random(rows, inner), random(outer, inner), random(rows, outer)
    if seed % 2:
        # The same numbers, column by column in memory.
        matrix = matrix.T.contiguous().T
    true = states.double() @ matrix.double().T
    size = states.double().abs() @ matrix.double().abs().T
    way = open_way()
    factor = way.factor(rows + room, inner + room, states)
    half = rows // 2
    factor.put(half, states[half:])
    factor.put(0, states[:half])
    # A row of the result may be part of a longer one.
    out = torch.full((rows, outer + room), torch.nan)[:, :outer]
    factor.times(rows, way.weight(matrix), out)
    assert bool(((out - true).abs() <= bound * size + 1e-30).all())
    out.copy_(before)
    factor.times(rows, way.weight(matrix), out, add=True)
    assert bool(((out - true - before).abs() <= bound * (size + before.abs())).all())


@needs_onemkl
def test_a_result_that_does_not_fit_is_refused_before_memory_is_written() -> None:
    way = HalvedProducts(anywhere=True)
    factor, weight = way.factor(4, 8, torch.empty(0)), way.weight(torch.ones(5, 8))
    factor.put(0, torch.ones(4, 8))
    for rows, out in (
        (4, torch.empty(4, 6)),
        (5, torch.empty(5, 5)),
        (4, torch.empty(4, 5, dtype=torch.float64)),
        (4, torch.empty(5, 4).T),
    ):
        with pytest.raises(ValueError, match="of 4 rows and 8 columns into"):
            factor.times(rows, weight, out)
    with pytest.raises(ValueError, match="of 4 rows and 8 columns into"):
        factor.times(4, way.weight(torch.ones(5, 9)), torch.empty(4, 5))


def test_without_a_matrix_unit_or_onemkl_products_stay_plain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(products, "has_matrix_unit", lambda: False)
    with pytest.raises(NotImplementedError):
        HalvedProducts()
    monkeypatch.setattr(products, "bfloat16_product", lambda: None)
    with pytest.raises(NotImplementedError):
        HalvedProducts(anywhere=True)
