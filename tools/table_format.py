"""What a table file is made of: its kind, encoding and delimiter, found from its bytes.

Only the bytes decide, never the ending of the name. What cannot be known for certain (a file in
an 8-bit encoding does not say which) is a flag that the reader of the file is shown.
"""

import codecs
import csv
import gzip
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Literal

from evenhand.graph_store.errors import UserError

DELIMITERS = (",", ";", "\t", "|")
_CHUNK = 1 << 20
_SAMPLE = 1 << 16
_WESTERN_SHARE = 0.5
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_EXCEL = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")
_MULTI_BYTE = ("cp949", "shift_jis", "gb18030", "big5")
_EIGHT_BIT = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "latin_1")


@dataclass(frozen=True)
class TableFormat:
    """How to read a table file.

    Attributes:
        kind: csv (any delimiter), jsonl (an object a line) or parquet.
        encoding: A Python codec name; of no meaning for parquet.
        delimiter: Between the cells of a csv file.
        flags: byte_order_mark; encoding_guessed (8-bit: several encodings fit the bytes).
    """

    kind: Literal["csv", "jsonl", "parquet"] = "csv"
    encoding: str = "utf-8"
    delimiter: str = ","
    flags: tuple[str, ...] = ()


def find_format(
    path: Path, *, encoding: str | None = None, delimiter: str | None = None
) -> TableFormat:
    """Return what the file's bytes say of it, where the caller does not know better.

    Args:
        path: The file; a name that ends with .gz is unpacked on the way.
        encoding: Known encoding, or None to find it; the whole file is then read once.
        delimiter: Known delimiter, or None to find it.

    Raises:
        UserError: No such file, empty, an Excel workbook, or not text.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file; expected a CSV, JSON lines or Parquet file.")
    with open_bytes(path) as stream:
        start = stream.read(_SAMPLE)
    if start.startswith(b"PAR1"):
        return TableFormat("parquet")
    if start.startswith(_EXCEL):
        raise UserError(
            f"{path.name} is an Excel workbook (or another archive); "
            "save its sheet as CSV UTF-8 and give that file."
        )
    if not start.strip():
        raise UserError(f"{path.name} is empty; expected a header line and a line for each item.")
    found = _find_encoding(path, start) if encoding is None else TableFormat(encoding=encoding)
    text = _decoded_start(path, start, found.encoding)
    if text.lstrip("\ufeff \r\n\t").startswith("{"):
        return replace(found, kind="jsonl")
    return replace(found, delimiter=delimiter or find_delimiter(text))


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading bytes, unpacked where its name ends with .gz."""
    if path.suffix == ".gz":
        return io.BufferedReader(gzip.open(path, "rb"))
    return path.open("rb")


def find_delimiter(text: str) -> str:
    r"""Return the delimiter that cuts most rows into as many cells as the header has.

    Example:
        >>> find_delimiter('id;note;score\n1;"fell, hit head";0,75\n')
        ';'
    """
    return max(DELIMITERS, key=lambda delimiter: _fit(text, delimiter))


def _fit(text: str, delimiter: str) -> tuple[float, int, int]:
    """How well a delimiter fits: share of rows of the header's width, width, rank."""
    try:
        rows = [
            row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row
        ]
    except csv.Error:
        return 0.0, 0, 0
    # The sample may end inside a row.
    whole = rows[:-1] if len(rows) > 2 else rows
    width = len(whole[0]) if whole else 0
    if width < 2:
        return 0.0, 0, -DELIMITERS.index(delimiter)
    share = Counter(len(row) for row in whole)[width] / len(whole)
    return share, width, -DELIMITERS.index(delimiter)


def _decoded_start(path: Path, start: bytes, encoding: str) -> str:
    try:
        decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    except LookupError as error:
        raise UserError(
            f"{path.name}: unknown encoding {encoding!r}; expected a name such as utf-8 or cp1252."
        ) from error
    return decoder.decode(start)


def _find_encoding(path: Path, start: bytes) -> TableFormat:
    for mark, name in _MARKS:
        if start.startswith(mark):
            return TableFormat(encoding=name, flags=("byte_order_mark",))
    wrong = _first_not_utf8(path)
    if wrong is None:
        return TableFormat()
    return TableFormat(encoding=_guess(wrong), flags=("encoding_guessed",))


def _chunks(path: Path) -> Iterator[bytes]:
    with open_bytes(path) as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def _first_not_utf8(path: Path) -> bytes | None:
    """Return bytes around the first that is not UTF-8, or None; refuse what is no text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for number, chunk in enumerate(_chunks(path)):
        if b"\0" in chunk:
            place = number * _CHUNK + chunk.index(b"\0")
            raise UserError(
                f"{path.name} holds a NUL byte (byte {place}): it is not a text table; "
                "save it as CSV UTF-8."
            )
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError as error:
            place = max(0, error.start - _SAMPLE // 2)
            return chunk[place : place + _SAMPLE]
    return None


def _guess(sample: bytes) -> str:
    """Guess an encoding: Western where the bytes look like accented letters.

    The eight-bit encodings of Europe fit one another's bytes, and a detector's order among them is
    chance on short cells; so the Western one is taken, and flagged.
    """
    if _stands_alone(sample) >= _WESTERN_SHARE:
        return "cp1252" if _decodes(sample, "cp1252") else "latin_1"
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=[*_EIGHT_BIT, *_MULTI_BYTE]).best()
    return best.encoding if best else "latin_1"


def _stands_alone(sample: bytes) -> float:
    """Return the share of bytes above 127 that have no other beside them.

    An accented letter of a Western language stands among plain ones; letters of other scripts,
    and pairs of bytes, stand together.
    """
    runs = [len(match[0]) for match in re.finditer(rb"[\x80-\xff]+", sample)]
    return sum(run == 1 for run in runs) / max(1, sum(runs))


def _decodes(sample: bytes, encoding: str) -> bool:
    try:
        sample.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
