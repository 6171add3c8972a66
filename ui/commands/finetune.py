"""`evenhand finetune`: fit a mimic of who decided the visits, and print its card."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.graph_store.errors import UserError
from evenhand.ui.console import messages, print_json, print_text, results
from evenhand.ui.options import SampleCount, json_option

if TYPE_CHECKING:
    from evenhand.tools.visits import Visits
    from evenhand.training.model_card import ModelCard

_SETTINGS = {"lr": "learning_rate"}
ARM_CHOICES = ("full", "text_only", "tabular_only")


@click.command()
@click.option("--dataset", metavar="NAME", help="Data set of visits (table with --map).")
@click.option("--path", metavar="FILE", help="File or folder of the data set.")
@click.option("--map", "mapping", type=click.Path(path_type=Path), help="The mapping of FILE.")
@click.option("--mimic", default="random_forest", show_default=True, help="Kind of model.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder of the model.")
@click.option("--n", type=SampleCount(), default="all", help="Visits to draw (all).")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Of draw, split and fit.")
@click.option("--attribute", metavar="NAME", help="Compared attribute (default: the first).")
@click.option("--decider", metavar="NAME", help="Whose decisions (default: the data set's label).")
@click.option("--balanced", is_flag=True, help="Weigh every level alike, however rare.")
@click.option(
    "--arm",
    type=click.Choice(ARM_CHOICES),
    default="full",
    help="Fit to what one arm shows (default: full, the model that all arms are asked of).",
)
@click.option("--base", metavar="MODEL", help="Pretrained model: local, a folder, a Hub id.")
@click.option("--rank", type=click.IntRange(1), help="Of the LoRA adapter.")
@click.option("--epochs", type=click.IntRange(1), help="Passes over the training half.")
@click.option("--lr", type=click.FloatRange(0, min_open=True), help="Highest learning rate.")
@click.option("--batch", type=click.IntRange(1), help="Visits at once.")
@click.option("--accumulation", type=click.IntRange(1), help="Batches of a step.")
@click.option("--max-steps", type=click.IntRange(1), help="Steps at most.")
@click.option("--plain", is_flag=True, help="Weights in full on CUDA too, not in 4 bits.")
@click.option(
    "--set", "others", multiple=True, metavar="NAME=VALUE", help="Any other setting of the kind."
)
@json_option
def command(**flags: Any) -> None:
    """Fit a model that decides as people decided, and print its card.

    It is fitted to one half of the visits and measured on the other. If OUT holds the model of
    the same data, settings and seed, that is loaded and nothing is fitted.
    """
    from evenhand.tools.finetune import fit_plan, open_lent
    from evenhand.training.fitting import fit_mimic
    from evenhand.ui.fit_progress import fit_progress

    visits, name = _visits(flags)
    plan = fit_plan(
        visits,
        mimic=flags["mimic"],
        seed=flags["seed"],
        class_weights="balanced" if flags["balanced"] else None,
        arm=flags["arm"],
        source={"dataset": name, "decider": flags["decider"] or visits.mapping.label},
        changes=_changes(flags),
    )
    messages().print(f"{plan.mimic}: {len(plan.train)} visits to fit to ...")
    with fit_progress(messages()) as on_progress:
        lent = open_lent(
            plan.mimic,
            visits.mapping,
            attributes=plan.attributes,
            settings=plan.settings,
            on_progress=on_progress,
        )
        fitted = fit_mimic(plan, flags["out"], lent)
    if flags["as_json"]:
        print_json({"resumed": fitted.resumed, **fitted.card.model_dump(mode="json")})
        return
    _print_card(fitted.card)
    done = "Loaded from" if fitted.resumed else "Kept in"
    print_text(f"{done} {flags['out']}")


def _changes(flags: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that the user changed, by their names in the kind."""
    changes = {
        _SETTINGS.get(name, name): flags[name]
        for name in ("base", "rank", "epochs", "lr", "batch", "accumulation", "max_steps")
        if flags[name] is not None
    }
    if flags["plain"]:
        changes["four_bit"] = False
    for other in flags["others"]:
        name, equals, value = other.partition("=")
        if not equals:
            raise UserError(f"--set {other!r} has no value; write it as NAME=VALUE.")
        changes[name] = _value(value)
    return changes


def _value(text: str) -> Any:
    """Return a number, true, false, null or list as JSON has them; else the word itself."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _visits(flags: dict[str, Any]) -> tuple["Visits", str]:
    from evenhand.tools.datasets import load_visits
    from evenhand.tools.datasets.table import table_source
    from evenhand.tools.visits import check_direction, drawn_visits, read_visits

    name, path, mapping = flags["dataset"], flags["path"], flags["mapping"]
    chosen = {"attribute": flags["attribute"], "decider": flags["decider"]}
    if mapping is None:
        if name is None:
            raise UserError("Name the visits with --dataset, or a file with --path and --map.")
        return load_visits(name, path, flags["n"], flags["seed"], **chosen)[0], name
    if name not in (None, "table") or path is None:
        raise UserError("--map goes with --path FILE alone: a known data set has its mapping.")
    source = table_source(Path(path), mapping)
    check_direction(source)
    visits = read_visits(source, seed=flags["seed"], **chosen)
    if flags["n"] is not None:
        visits = drawn_visits(visits, flags["n"], flags["seed"])
    return visits, "table"


def _print_card(card: "ModelCard") -> None:
    from rich.table import Table

    print_text(f"{card.title} ({card.mimic}), seed {card.seed}")
    levels = ", ".join(f"{level}: {n}" for level, n in card.train_levels.items())
    print_text(f"Fitted to {card.n_train} visits of {card.n_patients} patients (level: n) {levels}")
    if card.settings["class_weights"]:
        weights = ", ".join(f"{level}: {w:.2f}" for level, w in card.class_weights.items())
        print_text(f"A visit counted (level: weight) {weights}")
    chosen = ", ".join(f"{name} {value}" for name, value in card.chosen.items())
    print_text(f"Chosen by the search: {chosen or 'nothing, one setting'}")
    shown = Table(box=None, pad_edge=False)
    for title in ("asked as", "n", "kappa_w", "95 %", "precision", "recall", "F1", "ECE"):
        shown.add_column(title, justify="left" if title == "asked as" else "right")
    for arm, quality in card.quality.items():
        known = quality.kappa_w is not None
        kappa = f"{quality.kappa_w:.3f}" if known else "not estimable"
        interval = f"{quality.kappa_w_low:.3f} to {quality.kappa_w_high:.3f}" if known else ""
        shown.add_row(
            arm,
            str(quality.n),
            kappa,
            interval,
            *(f"{value:.3f}" for value in (quality.precision, quality.recall, quality.f1)),
            f"{quality.ece:.3f}",
        )
    results().print(shown)
    whole = next(iter(card.quality.values()), None)
    if whole is not None:
        print_text(
            f"Always saying the commonest level would have recall {whole.majority_share:.3f}"
        )
        if whole.flags:
            print_text("The mimic gives one level alone: it has learned nothing but that.")
        for row in _confusion_lines(card.levels, whole.confusion):
            print_text(row)
    print_text(f"Data {card.data_hash[:12]}, fitted in {card.seconds:.1f} s")


def _confusion_lines(levels: tuple[str, ...], counts: tuple[tuple[int, ...], ...]) -> list[str]:
    width = max(len(str(cell)) for row in (levels, *counts) for cell in row) + 1
    head = "decided \\ mimic" + "".join(f"{level:>{width}}" for level in levels)
    body = [
        f"{level:>15}" + "".join(f"{cell:>{width}}" for cell in row)
        for level, row in zip(levels, counts, strict=True)
    ]
    return [head, *body]
