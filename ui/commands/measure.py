"""`evenhand measure`: numbers from score files that exist already, without any call."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.graph_store.errors import UserError
from evenhand.ui.console import print_json
from evenhand.ui.options import json_option
from evenhand.ui.triage_measure import RECIPE as COUNTERFACTUAL
from evenhand.ui.triage_measure import measure_pairs, triage_options

if TYPE_CHECKING:
    from evenhand.tools.score_arms import Pairing

ARM_WORDS = {"original": "original", "nohop": "no_hop", "multihop": "multi_hop"}
"""Way of asking by what a file's name says of it."""


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="[ARM=]FILE...")
@click.option("--recipe", default="kg", show_default=True, help="Whose scores the files hold.")
@click.option(
    "--pair",
    type=click.Choice(["auto", "rows", "none"]),
    default="auto",
    show_default=True,
    help="Which rows of two files are one item: by id or question, row by row, or none.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of all draws.")
@click.option("--as-published", is_flag=True, help="Tables as the recipe's paper printed them.")
@triage_options
@json_option
def command(
    files: tuple[str, ...],
    recipe: str,
    pair: str,
    seed: int,
    as_published: bool,
    as_json: bool,
    **triage: Any,
) -> None:
    """Measure FILES of scores, a row an answer, with intervals; nothing is asked of a model.

    A file has columns such as age, gender, age_gender, location, age_gender_location with numbers
    of 0 to 1. One file gives means. Several also give the difference of each to the first, or to
    the one called original, and the Jensen-Shannon divergence between each two:

        evenhand measure original=a.csv no_hop=b.csv multi_hop=c.csv

    With --recipe counterfactual, one file of pairs (columns pair_id, group, original,
    counterfactual; patient, arm and level where there are): a level as decided, and as decided
    with the patient shown as the other group.

        evenhand measure pairs.csv --recipe counterfactual --direction higher_is_less_urgent
    """
    if recipe == COUNTERFACTUAL:
        measure_pairs(files, seed=seed, as_published=as_published, as_json=as_json, **triage)
        return
    from evenhand.tools.score_arms import measure_files
    from evenhand.tools.score_files import read_scores
    from evenhand.ui.score_tables import print_as_published, print_files

    _check_recipe(recipe)
    tables = {arm: read_scores(path) for arm, path in name_arms(files).items()}
    found = measure_files(tables, seed=seed, pairing=_pairing(pair), as_published=as_published)
    if as_json:
        print_json(found.to_json())
    elif as_published:
        print_as_published(found)
    else:
        print_files(found)


def _pairing(word: str) -> "Pairing":
    return "rows" if word == "rows" else "none" if word == "none" else "auto"


def _check_recipe(name: str) -> None:
    from evenhand.agents.recipe import load_recipe
    from evenhand.tools.score_arms import MEAN

    if MEAN not in load_recipe(name).metrics:
        raise UserError(
            f"Recipe {name!r} has no score files; expected one that measures {MEAN}: kg."
        )


def name_arms(words: tuple[str, ...]) -> dict[str, Path]:
    """Return the files by arm: as said (ARM=FILE), by the file's name, else the name itself.

    Raises:
        UserError: Two files have one arm.
    """
    arms: dict[str, Path] = {}
    for word in words:
        said, equals, file = word.partition("=")
        path = Path(word) if not equals or Path(word).is_file() else Path(file)
        arm = said.strip() if equals and path != Path(word) else _arm_of(path)
        if arm in arms:
            raise UserError(
                f"{path.name} and {arms[arm].name} are both {arm!r}; expected an arm a file. "
                "Name them apart: ARM=FILE."
            )
        arms[arm] = path
    return arms


def _arm_of(path: Path) -> str:
    letters = "".join(letter for letter in path.stem.casefold() if letter.isalnum())
    told = [arm for word, arm in ARM_WORDS.items() if word in letters]
    return told[0] if len(told) == 1 else path.stem
