"""What holds for each section of the report, those of plugins included."""

from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from evenhand.agents.recipe import load_recipe, recipe_names
from evenhand.graph_store.run_directory import Manifest, RunDirectory
from evenhand.tools import sections as folder
from evenhand.tools.sections import ReportContext, load_context, sections, summarise

MakeRun = Callable[..., RunDirectory]
ASIDE = (
    "<script>alert(1)</script><img src=http://pictures.example/x.png onerror=alert(2)> ${7*7} "
    "{{ 7*7 }} [a](javascript:alert(3)) <a href='javascript:alert(4)'>b</a> </div></details>\x00 "
)
A_SECTION = '''
from evenhand.tools.sections import ReportContext, fill, section

@section(title="Dropped")
def dropped(context: ReportContext) -> str:
    """Show the run."""
    return fill("dropped.html", run=context.run_id)
'''
VOID = {"br", "hr", "img", "input", "meta", "link", "rect", "circle"}


class Elements(HTMLParser):
    """Which elements and links a page has, and whether each is closed."""

    def __init__(self, text: str) -> None:
        """Read a page."""
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def hostile(make_run: MakeRun) -> ReportContext:
    return load_context(make_run(n=2, aside=ASIDE))


@pytest.fixture(scope="module")
def large(make_run: MakeRun) -> ReportContext:
    return load_context(
        make_run(n=1000, attributes=("location",), intersections=(), asked=("multi_hop",))
    )


@pytest.mark.parametrize("name", sections.names())
def test_without_any_row_a_section_says_so_in_whole_html(name: str) -> None:
    manifest = Manifest(run="kg-demo-0", created="2026-11-30T09:12:44+00:00", plan={}, seed=0)
    page = Elements(sections.get(name).render(ReportContext(manifest=manifest)))
    assert not page.open
    assert page.tags


@pytest.mark.parametrize("name", sections.names())
def test_a_thousand_rows_stay_within_a_few_megabytes(name: str, large: ReportContext) -> None:
    text = sections.get(name).render(large)
    assert len(text.encode()) < 3_500_000
    assert not Elements(text).open


@pytest.mark.parametrize("name", sections.names())
def test_text_of_a_model_stays_text(name: str, hostile: ReportContext) -> None:
    page = Elements(sections.get(name).render(hostile))
    assert not page.open
    assert not page.tags & {"script", "img", "iframe", "style", "form"}
    assert not {attribute for attribute in page.attributes if attribute.startswith("on")}
    assert all(link.startswith("#") for link in page.links)


@pytest.mark.parametrize("recipe", recipe_names())
def test_each_recipe_says_in_brief_what_was_found(recipe: str, hostile: ReportContext) -> None:
    names = load_recipe(recipe).sections
    manifest = Manifest(run="r", created="2026-11-30T09:12:44+00:00", plan={}, seed=0)
    for context in (ReportContext(manifest=manifest), hostile):
        found = summarise(context, names)
        assert found.headline
        assert found.sentences
        assert not Elements(found.figure).open
        assert not Elements(found.figure).tags & {"script", "img", "iframe", "style", "form"}


def test_the_hostile_text_was_really_shown(hostile: ReportContext) -> None:
    text = sections.get("traces").render(hostile)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "${7*7} {{ 7*7 }}" in text


@pytest.mark.parametrize("name", sections.names())
def test_a_section_has_a_heading_of_its_own(name: str) -> None:
    assert sections.get(name).name == name
    assert sections.get(name).title


@pytest.fixture
def dropped_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "dropped.py").write_text(A_SECTION)
    (tmp_path / "dropped.html").write_text("<p>{{ run }}</p>\n")
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    yield tmp_path
    sections.forget("dropped")


def test_a_dropped_file_is_picked_up(dropped_folder: Path) -> None:
    assert "dropped" in sections.names()
    manifest = Manifest(run="<b>", created="2026-11-30T09:12:44+00:00", plan={}, seed=0)
    shown = sections.get("dropped").render(ReportContext(manifest=manifest))
    assert shown.strip() == "<p>&lt;b&gt;</p>"
