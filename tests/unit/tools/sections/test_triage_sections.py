"""The report of a counterfactual audit, from simulated pairs."""

import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from evenhand.graph_store.records import Change, Judgement, Sample, Variant
from evenhand.graph_store.run_directory import Manifest
from evenhand.tools.report import facts, question, report_html
from evenhand.tools.sections import ReportContext, sections
from evenhand.tools.sections.flow import detail_text
from evenhand.tools.sections.levels import limits_text, odds_text
from evenhand.tools.sections.pairs import MOST_MOVED, chosen_places, outcome_of_row
from evenhand.tools.sections.triage_verdict import headline
from evenhand.tools.statistics.odds_ratios import odds_ratio
from evenhand.tools.triage.asked_models import AskedModel
from evenhand.tools.triage.deciders import compare_deciders
from evenhand.tools.triage.measure import measure_arms
from evenhand.tools.triage.pairs import Direction, TriagePairs
from evenhand.tools.triage_view import OtherDecider, TriageView, make_view
from evenhand.tools.visit_rows import FlowStep
from evenhand.training.fit_quality import fit_quality
from evenhand.training.model_card import ModelCard

LEVELS = ("1", "2", "3", "4", "5")
LESS: Direction = "higher_is_less_urgent"
MORE: Direction = "higher_is_more_urgent"
NAMES = (
    "triage_verdict",
    "triage_forest",
    "controls",
    "levels",
    "deciders",
    "mimic",
    "flow",
    "rewrites",
    "pairs",
    "beyond",
    "triage_limits",
    "triage_methods",
)
ASIDE = "<script>alert(1)</script><img src=http://pictures.example/x.png>"


def asked(card: ModelCard, name: str = "mimic/random_forest") -> AskedModel:
    """The mimic of a card, as a run holds it."""
    return AskedModel(name, {}, card.quality, card)


def made_pairs(
    n: int = 600, up: float = 0.0, down: float = 0.0, seed: int = 0, lost: Sequence[int] = ()
) -> TriagePairs:
    """Half male, shown as female, who move up at rate `up`; half the other way round."""
    rng = np.random.default_rng(seed)
    source = np.arange(n) % 2
    first = np.random.default_rng(9).integers(1, 4, n)
    step = rng.choice([1, -1, 0], n, p=[up, down, 1 - up - down])
    second = first + np.where(source == 0, step, -step)
    status = np.full(n, "ok", dtype="<U20")
    second[list(lost)], status[list(lost)] = -1, "refused"
    return TriagePairs(
        LEVELS,
        ("male", "female"),
        np.array([f"v{i}>x" for i in range(n)]),
        source,
        1 - source,
        first,
        second,
        status,
        recorded=first,
    )


def made_card(decided: Any = None) -> ModelCard:
    n = 300
    rng = np.random.default_rng(0)
    people = rng.integers(0, 5, n) if decided is None else decided
    probabilities = rng.dirichlet(np.ones(5), n)
    probabilities[np.arange(n), people] += 0.7
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    quality = fit_quality(people, probabilities, LEVELS, seed=0)
    return ModelCard(
        mimic="random_forest",
        title="random forest on TF-IDF",
        levels=LEVELS,
        fitted_for="full",
        attributes=("gender",),
        columns={"age": "number"},
        settings={},
        seed=0,
        data_hash="a" * 64,
        n_train=n,
        n_patients=n,
        train_levels={"3": n},
        quality={"full": quality},
    )


def made_context(view: TriageView | None, aside: str = "") -> ReportContext:
    samples, variants = [], []
    n = 0 if view is None else len(view.main)
    for place in range(n):
        own, other = ("male", "female") if place % 2 == 0 else ("female", "male")
        words = {"male": "man", "female": "woman"}
        text = f"A {{}} with chest pain. {aside}"
        samples.append(
            Sample(
                id=f"v{place}",
                dataset="demo_visits",
                position=place,
                text=text.format(words[own]),
                split="audit",
            )
        )
        lost = view is not None and view.main.counterfactual[place] < 0
        variants.append(
            Variant(
                id=f"v{place}/v3",
                sample_id=f"v{place}",
                arm="full",
                changes=(Change(attribute="gender", before=own, after=other),),
                text="" if lost else text.format(words[other]),
                columns={"gender": other},
                status="skipped" if lost else "ok",
                reason="refused:ambiguous_pronoun" if lost else None,
                made_by="rules",
            )
        )
    manifest = Manifest(
        run="counterfactual-demo-1",
        created="2026-11-30T09:12:44+00:00",
        plan={
            "recipe": "counterfactual",
            "dataset": "demo_visits",
            "attributes": ["gender"],
            "roles": {"target": {"model": "mimic/random_forest"}},
        },
        seed=0,
    )
    return ReportContext(
        manifest=manifest, samples=samples, variants=variants, read_triage=lambda: view
    )


@pytest.fixture(scope="module")
def audit() -> TriageView:
    arms = {
        "full": made_pairs(up=0.14, down=0.02, seed=1, lost=range(0, 40)),
        "text_only": made_pairs(up=0.1, down=0.02, seed=2),
        "placebo": made_pairs(up=0.01, down=0.01, seed=3),
        "repeat": made_pairs(),
    }
    flow = (
        FlowStep("read", "rows of the file", 0, 640),
        FlowStep("sex_specific", "content", 40, 600, {"own list": 40, "as published": 91}),
    )
    view = make_view(
        arms, LESS, decider="nurse", attribute="gender", flow=flow, model=asked(made_card())
    )
    expert = {"full": made_pairs(up=0.03, down=0.02, seed=4)}
    other = OtherDecider(
        "counterfactual-demo-2",
        "expert",
        measure_arms(expert),
        compare_deciders(view.arms, expert),
    )
    return replace(view, others=(other,))


def rendered(name: str, view: TriageView | None, aside: str = "") -> str:
    """Return a section's text without its tags."""
    return plain(sections.get(name).render(made_context(view, aside)))


def plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


class Tags(HTMLParser):
    """Names of the elements of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)


@pytest.mark.parametrize("name", NAMES)
def test_a_note_stays_text_and_every_section_has_something_to_say(
    name: str, audit: TriageView
) -> None:
    html = sections.get(name).render(made_context(audit, ASIDE))
    assert not Tags(html).names & {"script", "img"}
    assert len(plain(html)) > 80
    assert 'class="empty"' not in html


def test_the_hostile_note_was_really_shown(audit: TriageView) -> None:
    html = sections.get("pairs").render(made_context(audit, ASIDE))
    assert "&lt;script&gt;" in html
    assert len(html.encode()) < 3_000_000


def test_every_arrow_has_its_words_and_they_turn_with_the_scale(audit: TriageView) -> None:
    turned = make_view(audit.arms, MORE)
    for name in ("triage_verdict", "triage_forest", "controls", "levels", "pairs"):
        for view, up, down in ((audit, "less", "more"), (turned, "more", "less")):
            text = rendered(name, view)
            arrows = re.findall(r"([↑↓])\s+(\w+)", text)
            assert arrows
            assert set(arrows) <= {("↑", up), ("↓", down)}
            assert len(arrows) == text.count("↑") + text.count("↓")


def test_without_a_direction_no_urgency_is_claimed_anywhere(audit: TriageView) -> None:
    view = make_view(audit.arms, None)
    assert headline(view) == "No verdict."
    for name in NAMES:
        assert not re.search(r"(less|more) urgent", rendered(name, view))


def test_the_headline_follows_the_verdict(audit: TriageView) -> None:
    assert headline(audit).startswith("Yes: shown as female instead of male, visits are decided")
    nothing = make_view({"full": made_pairs(up=0.02, down=0.02)}, LESS)
    assert headline(nothing) == "Not found, which is not the same as fair."
    assert "change found" not in rendered("triage_verdict", nothing)


def test_a_control_that_moves_nothing_is_no_noise_floor(audit: TriageView) -> None:
    assert "repeat none: no information" in rendered("triage_verdict", audit)
    text = rendered("controls", audit)
    assert text.count("no information (repeat)") == text.count("nothing to take off") > 0
    assert "no information (placebo)" not in text
    assert "no information" in rendered("triage_forest", audit)


def test_the_flow_shows_each_filter_and_both_lists(audit: TriageView) -> None:
    text = rendered("flow", audit)
    assert "our own list 40, the published list 91" in text
    assert "40 note not rewritten" in text
    assert detail_text({"age": 3}) == "age 3"


def test_text_only_without_any_note_that_states_it_is_not_zero(audit: TriageView) -> None:
    pairs = made_pairs()
    silent = replace(
        pairs, counterfactual=np.full(600, -1), status=np.full(600, "not_stated", dtype="<U20")
    )
    view = make_view({"full": audit.main, "text_only": silent}, LESS)
    text = rendered("triage_forest", view)
    assert "not estimable: no note states it" in text
    assert "600 note does not state it" in rendered("flow", view)


def test_the_card_warns_where_the_model_is_not_the_people() -> None:
    poor = made_card()
    quality = poor.quality["full"].model_copy(
        update={"kappa_w": 0.2, "recall": 0.3, "majority_share": 0.5, "never_given": ("1",)}
    )
    card = poor.model_copy(update={"quality": {"full": quality}})
    view = make_view({"full": made_pairs(up=0.1)}, LESS, model=asked(card))
    text = rendered("mimic", view)
    assert "agrees with the people little" in text
    assert "never gives level 1" in text
    assert "would be right more often (50 %; the model 30 %)" in text


def test_the_confusion_matrix_and_curve_are_those_of_the_card(audit: TriageView) -> None:
    assert audit.card is not None
    quality = audit.card.quality["full"]
    html = sections.get("mimic").render(made_context(audit))
    assert html.count('data-id="bin-') == len(quality.calibration)
    cells = [int(cell) for cell in re.findall(r'<td class="count">(?:<b>)?(\d+)', html)]
    assert cells == [count for row in quality.confusion for count in row]


def test_two_deciders_differ_inside_each_pair(audit: TriageView) -> None:
    text = rendered("deciders", audit)
    assert "nurse and expert, on the same pairs" in text
    (dts, *_) = [one for one in audit.others[0].differences if one.symbol == "DTS_female|male"]
    both = audit.main.between("male", "female").scored
    assert dts.estimate.n == len(both)
    assert dts.first == pytest.approx(np.sign(both.steps).mean())
    assert dts.estimate.value == pytest.approx((dts.first or 0) - (dts.second or 0))
    same = compare_deciders(audit.arms, audit.arms)
    assert all(one.estimate.value == 0 for one in same)


def test_pairs_that_moved_most_come_first_and_say_which_way(audit: TriageView) -> None:
    rows = audit.main
    places = chosen_places(rows)
    steps = np.abs(rows.counterfactual - rows.original)[places]
    moved = int((rows.scored.steps != 0).sum())
    assert (steps[: min(moved, MOST_MOVED)] > 0).all()
    assert outcome_of_row(audit, 0) == ("note not rewritten", "refused")
    place = next(p for p in places if rows.counterfactual[p] > rows.original[p])
    assert outcome_of_row(audit, place)[0].endswith("↑ less urgent")
    html = sections.get("pairs").render(made_context(audit))
    assert "<del>man</del><ins>woman</ins>" in html


def test_odds_with_an_empty_cell_are_shown_open_ended() -> None:
    zero = odds_ratio([[0, 50], [5, 45]])
    assert "(Haldane)" in odds_text(zero)
    assert limits_text(zero.mid_p_limits).startswith("[0.00, ")
    assert limits_text((0.5, float("inf"))) == "[0.50, ∞]"
    assert odds_text(odds_ratio([[0, 50], [0, 50]])).startswith("not estimable")


def test_why_notes_were_not_rewritten_is_counted(audit: TriageView) -> None:
    assert "40 not made: refused: ambiguous pronoun" in rendered("rewrites", audit)


def test_readers_and_their_agreement_are_shown(audit: TriageView) -> None:
    context = made_context(audit)
    said = {"R1": ["correct"] * 8 + ["failed"] * 2, "R2": ["correct"] * 7 + ["failed"] * 3}
    labels = [
        Judgement(
            id=f"v{place}/v3/l-{rater}",
            status="ok",
            subject_id=f"v{place}/v3",
            rubric="rewrite_quality",
            dimension="overall",
            judge=rater,
            value=value,
        )
        for rater, values in said.items()
        for place, value in enumerate(values)
    ]
    text = plain(sections.get("rewrites").render(replace(context, labels=labels)))
    assert "R1 and R2 say the same of 90.0 %" in text
    assert "kappa 0.7" in text
    assert "80.0 %" in text


def test_the_page_asks_about_decisions_and_names_who_decided(audit: TriageView) -> None:
    context = made_context(audit)
    assert (
        question(context.plan)
        == "Do the decisions in demo_visits change with the patient's gender?"
    )
    assert "decider nurse" in facts(context)
    page = report_html(context, [sections.get(name) for name in NAMES])
    anchors = set(re.findall(r' id="([^"]+)"', page))
    assert {link for link in re.findall(r'href="#([^"]+)"', page)} <= anchors


def test_limits_name_what_this_run_lacks(audit: TriageView) -> None:
    text = rendered("triage_limits", audit)
    assert "Nothing moved in the repeat arm" in text
    assert "6.7 % of the pairs could not be scored" in text
    alone = rendered("triage_limits", make_view({"full": made_pairs(up=0.1)}, LESS))
    assert "There is no placebo arm" in alone
