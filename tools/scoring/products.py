"""Products of states and weights in float32: as they are, or by halves on a matrix unit.

Processors that multiply bfloat16 in tiles (AMX) do so six times as fast as float32. A number is
then the sum of two of bfloat16, its high half and what is missing, which keep 16 of its 24 bits;
of the four products of halves the smallest is left out. The rest are three products at six times
the rate, with sums in float32; log-probabilities of a small model move by about 1e-4.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import torch

_ROW_MAJOR, _AS_IS, _TRANSPOSED = 101, 111, 112
"""Of the BLAS interface in C."""
PROFILED = "evenhand::product_by_halves"
"""Its name in a profile."""
_PRODUCT = "cblas_gemm_bf16bf16f32"
"""The product of oneMKL's BLAS that takes bfloat16 and gives float32; torch itself has none."""


class Factor(Protocol):
    """Rows of states, to be multiplied with weights."""

    def put(self, start: int, states: "torch.Tensor") -> None:
        """Store states, shape (k, width), from a row on."""
        ...

    def times(self, rows: int, weight: Any, out: "torch.Tensor", *, add: bool = False) -> None:
        """Multiply the first rows with a weight into `out`, or add to it, shape (rows, out).

        Of each row as many states count as the weight is wide, from the first.
        """
        ...


class Products(Protocol):
    """One way of multiplying."""

    def weight(self, matrix: "torch.Tensor") -> Any:
        """Return a matrix, shape (out, in), as this way wants it."""
        ...

    def factor(self, rows: int, width: int, like: "torch.Tensor") -> Factor:
        """Return room for so many rows of so many states at most."""
        ...


class PlainProducts:
    """Products as torch makes them, in any precision and on any device."""

    def weight(self, matrix: "torch.Tensor") -> "torch.Tensor":
        """Return the matrix."""
        return matrix

    def factor(self, rows: int, width: int, like: "torch.Tensor") -> "PlainFactor":
        """Return room for so many rows."""
        return PlainFactor(like.new_empty((rows, width)))


class PlainFactor:
    """See Factor.

    Args:
        room: Shape (rows, width).
    """

    def __init__(self, room: "torch.Tensor") -> None:
        """Keep the room."""
        self._room = room

    def put(self, start: int, states: "torch.Tensor") -> None:
        """Store states from a row on."""
        self._room[start : start + len(states), : states.shape[1]] = states

    def times(
        self, rows: int, weight: "torch.Tensor", out: "torch.Tensor", *, add: bool = False
    ) -> None:
        """Multiply the first rows with a weight."""
        import torch

        states = self._room[:rows, : weight.shape[1]]
        if add:
            out.addmm_(states, weight.T)
        else:
            torch.mm(states, weight.T, out=out)


class HalvedProducts:
    """Products of float32 as three of bfloat16, on the CPU.

    Args:
        anywhere: Also where the processor has no matrix unit, and it is slow.

    Raises:
        NotImplementedError: There is no matrix unit, or torch comes without oneMKL.
    """

    def __init__(self, *, anywhere: bool = False) -> None:
        """Find the product."""
        found = bfloat16_product()
        if found is None or not (anywhere or has_matrix_unit()):
            raise NotImplementedError("no matrix unit")
        self._product = found

    def weight(self, matrix: "torch.Tensor") -> tuple["torch.Tensor", "torch.Tensor"]:
        """Return both halves of a matrix."""
        import torch

        # The product takes where rows begin and a stride between them: a row must be in one piece.
        matrix = matrix.contiguous()
        high = matrix.to(torch.bfloat16)
        return high, (matrix - high.float()).to(torch.bfloat16)

    def factor(self, rows: int, width: int, like: "torch.Tensor") -> "HalvedFactor":
        """Return room for both halves of so many rows."""
        return HalvedFactor(self._product, rows, width)


class HalvedFactor:
    """See Factor.

    Args:
        product: From `bfloat16_product`.
        rows: At most.
        width: At most.
    """

    def __init__(self, product: Callable[..., None], rows: int, width: int) -> None:
        """Make room for both halves."""
        import torch

        self._product = product
        self._high = torch.empty((rows, width), dtype=torch.bfloat16)
        self._low = torch.empty_like(self._high)
        self._spare = torch.empty(0)

    def put(self, start: int, states: "torch.Tensor") -> None:
        """Store both halves of states from a row on."""
        import torch

        k, width = states.shape
        if self._spare.numel() < k * width:
            self._spare = torch.empty(k * width)
        spare = self._spare[: k * width].view(k, width)
        high = self._high[start : start + k, :width]
        # Each step keeps one precision: a mixed difference makes whole copies, and is twice slower.
        high.copy_(states)
        spare.copy_(high)
        torch.sub(states, spare, out=spare)
        self._low[start : start + k, :width].copy_(spare)

    def times(
        self,
        rows: int,
        weight: tuple["torch.Tensor", "torch.Tensor"],
        out: "torch.Tensor",
        *,
        add: bool = False,
    ) -> None:
        """Multiply the first rows with a weight."""
        import torch

        high, low = weight
        room = self._high.shape
        fits = rows <= room[0] and high.shape[1] <= room[1] and out.shape == (rows, len(high))
        if not fits or out.dtype != torch.float32 or out.stride(1) != 1:
            # Past this line nothing checks where is written.
            raise ValueError(
                f"{rows} of {room[0]} rows and {room[1]} columns into {tuple(out.shape)}, "
                f"{out.dtype}; expected float32, rows in one piece"
            )
        parts = ((self._high, high, add), (self._low, high, True), (self._high, low, True))
        # A profiler sees what torch does; this is done past it.
        with torch.profiler.record_function(PROFILED):
            for half, matrix, keep in parts:
                self._product(
                    *(_ROW_MAJOR, _AS_IS, _TRANSPOSED, rows, len(matrix), matrix.shape[1]),
                    *(1.0, half.data_ptr(), half.stride(0), matrix.data_ptr(), matrix.stride(0)),
                    *(float(keep), out.data_ptr(), out.stride(0)),
                )


def has_matrix_unit() -> bool:
    """Return whether the processor multiplies bfloat16 in tiles."""
    import torch

    return bool(torch.cpu.get_capabilities().get("amx_bf16"))


@cache
def bfloat16_product() -> Callable[..., None] | None:
    """Return oneMKL's product of bfloat16 into float32; None where torch comes without it."""
    import torch

    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
        found = getattr(library, _PRODUCT)
    except (OSError, AttributeError):
        return None
    whole, real, place = ctypes.c_int, ctypes.c_float, ctypes.c_void_p
    # Layout, transpositions and sizes; alpha, A and its stride, B and its; beta, C and its.
    found.argtypes = [*[whole] * 6, real, place, whole, place, whole, real, place, whole]
    found.restype = None
    product: Callable[..., None] = found
    return product
