"""Rows lead to texts that stand once; a file that would grow too big says what it leaves out."""

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from evenhand.graph_store.run_directory import Call, RunDirectory
from evenhand.tools.measured_rows import MeasuredRow
from evenhand.tools.sections import load_context, traces

MakeRun = Callable[..., RunDirectory]


class Page(HTMLParser):
    """The ids and the links of a page."""

    def __init__(self, text: str) -> None:
        """Read a page."""
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if named.get("id"):
            self.ids.append(named["id"] or "")
        if tag == "a":
            self.links.append(named.get("href") or "")


def _row(status: str, value: float) -> MeasuredRow:
    return MeasuredRow("s", None, None, None, "age", "no_hop", value, status, None)


def test_every_link_has_its_place_and_every_id_is_there_once(make_run: MakeRun) -> None:
    page = Page(traces.traces(load_context(make_run())))
    assert len(page.ids) == len(set(page.ids))
    missing = {link for link in page.links if link.removeprefix("#") not in page.ids}
    assert not missing
    assert any(link.startswith("#answer-") for link in page.links)


def test_a_row_shows_the_swap_and_both_answers(make_run: MakeRun) -> None:
    page = traces.traces(load_context(make_run()))
    assert "<del>Leeds</del><ins>Johannesburg</ins>" in page
    assert "It is influenza. Take a blood test." in page
    assert "It is malaria. Take a blood test." in page
    assert "⟨the question⟩" in page


def test_the_same_prompt_is_stored_once(make_run: MakeRun) -> None:
    page = traces.traces(load_context(make_run()))
    assert len(re.findall(r'id="prompt-\d+"', page)) < 4


def test_what_a_judging_model_was_asked_and_wrote_is_shown(make_run: MakeRun) -> None:
    context = load_context(make_run())
    answer = next(one for one in context.answers if one.arm == "multi_hop")
    call = Call(
        id=f"{answer.id}/j0-1a2b3c4d",
        role="judge",
        model="openai/judge",
        messages=(("user", f"Score it. <answer>{answer.text}</answer>"),),
        reply='{"age": "<b>high</b>"}',
    )
    page = traces.traces(replace(context, calls=[*context.calls, call]))
    assert "{&#34;age&#34;: &#34;&lt;b&gt;high&lt;/b&gt;&#34;}" in page
    assert "Score it. &lt;answer&gt;⟨the answer⟩&lt;/answer&gt;" in page


def test_changed_rows_come_first_then_unscored_ones() -> None:
    rows = [_row("ok", 0.0), _row("answer_refused", float("nan")), _row("ok", 1.0)]
    assert [row.status for row in traces.choose(rows)] == ["ok", "answer_refused", "ok"]
    assert traces.choose(rows)[0].value == 1.0


def test_at_most_200_rows_are_shown_and_the_rest_is_named(make_run: MakeRun) -> None:
    page = traces.traces(
        load_context(make_run(n=230, asked=("no_hop",), attributes=("age",), intersections=()))
    )
    assert "200 of 230 shown; all rows are in answers.jsonl." in page


def test_texts_beyond_the_limit_are_left_out_with_a_word(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "TEXT_BYTES", 20_000)
    page = traces.traces(load_context(make_run()))
    assert "are not in this file, to keep it small; they are in answers.jsonl." in page
    assert len(page) < 500_000
