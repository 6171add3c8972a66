"""`evenhand finetune`: fit a mimic of who decided the visits, and print its card."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.graph_store.errors import UserError
from evenhand.ui.console import messages, print_json, print_text, results
from evenhand.ui.options import SampleCount, json_option

if TYPE_CHECKING:
    from evenhand.tools.visits import Visits
    from evenhand.training.model_card import ModelCard

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
@json_option
def command(**flags: Any) -> None:
    """Fit a model that decides as people decided, and print its card.

    It is fitted to one half of the visits and measured on the other. If OUT holds the model of
    the same data, settings and seed, that is loaded and nothing is fitted.
    """
    from evenhand.tools.finetune import fit_plan, open_embedder
    from evenhand.training.fitting import fit_mimic

    visits, name = _visits(flags)
    plan = fit_plan(
        visits,
        mimic=flags["mimic"],
        seed=flags["seed"],
        class_weights="balanced" if flags["balanced"] else None,
        arm=flags["arm"],
        source={"dataset": name, "decider": flags["decider"] or visits.mapping.label},
    )
    messages().print(f"{plan.mimic}: {len(plan.train)} visits to fit to ...")
    fitted = fit_mimic(plan, flags["out"], open_embedder(plan.mimic))
    if flags["as_json"]:
        print_json({"resumed": fitted.resumed, **fitted.card.model_dump(mode="json")})
        return
    _print_card(fitted.card)
    done = "Loaded from" if fitted.resumed else "Kept in"
    print_text(f"{done} {flags['out']}")


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
        kappa = "not estimable" if quality.kappa_w is None else f"{quality.kappa_w:.3f}"
        interval = f"{quality.kappa_w_low:.3f} to {quality.kappa_w_high:.3f}"
        shown.add_row(
            arm,
            str(quality.n),
            kappa,
            interval if quality.kappa_w is not None else "",
            *(f"{value:.3f}" for value in (quality.precision, quality.recall, quality.f1)),
            f"{quality.ece:.3f}",
        )
    results().print(shown)
    whole = next(iter(card.quality.values()), None)
    if whole is not None:
        print_text(
            f"Always saying the commonest level would have recall {whole.majority_share:.3f}"
        )
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
