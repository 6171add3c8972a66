"""Models by name: 'kind/name' -> what opens it, and whether what that needs is installed.

Providers (models that are asked in words) and label scorers share this form.
"""

import importlib.util
from collections.abc import Iterable
from typing import Protocol, TypeVar

from evenhand.graph_store.errors import UserError
from evenhand.graph_store.registry import Registry, unknown_name


class Named(Protocol):
    """Where models of one kind come from."""

    @property
    def form(self) -> str:
        """How its models are written; "[...]" marks what may be left out."""
        ...


K = TypeVar("K", bound=Named)


def find_kind(registry: Registry[K], spec: str, *, also: Iterable[str] = ()) -> tuple[K, str]:
    """Return what 'kind/name' stands for, and the name, which may be empty.

    Args:
        registry: Of the kinds.
        spec: As a person writes it.
        also: Other ways to name a model, for the message.

    Raises:
        UserError: No such kind, or no name where one is needed.
    """
    kind, _, name = spec.partition("/")
    known = registry.names()
    if kind not in known:
        forms = [*also, *(registry.get(other).form for other in known)]
        raise UserError(
            f"{unknown_name(registry.kind, kind, known)} Write a model as one of: "
            f"{', '.join(forms)}."
        )
    found = registry.get(kind)
    if not name and "/<" in found.form and "[/<" not in found.form:
        raise UserError(f"Model {spec!r} has no name; expected {found.form}.")
    return found, name


def check_installed(spec: str, packages: Iterable[str], *, extra: str = "") -> None:
    """Check that a model's packages are installed; imports none of them.

    Args:
        spec: The model, for the message.
        packages: Import names.
        extra: The extra of evenhand that brings them; "": each is installed by its own name.

    Raises:
        UserError: One is missing.
    """
    for package in packages:
        if importlib.util.find_spec(package) is None:
            install = f"'evenhand[{extra}]'" if extra else package
            raise UserError(
                f"Model {spec!r} needs the package {package}, which is not installed; install it "
                f"with `pip install {install}`, or choose another model."
            )
