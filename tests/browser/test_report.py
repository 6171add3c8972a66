"""The report in a real browser: wide and narrow, light and dark, without a script or a request."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from evenhand.graph_store.run_directory import RunDirectory
from evenhand.tools.report import write_report

SECTIONS = (
    "verdict",
    "forest",
    "radar",
    "measurements",
    "unscored",
    "traces",
    "limits",
    "methods",
)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
ASIDE = "<script>document.title = 'run'</script><img src=http://pictures.example/x.png> "
TOO_WIDE = """[...document.querySelectorAll('body *')]
  .filter(e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 1)
  .map(e => e.outerHTML.slice(0, 80))"""
Scheme = Literal["light", "dark"]
MakeRun = Callable[..., RunDirectory]


@pytest.fixture(scope="module")
def report(make_run: MakeRun) -> Path:
    return write_report(make_run(aside=ASIDE), SECTIONS)[0]


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield opened
        opened.close()


def _open(browser: Browser, report: Path, width: int = 1280, scheme: Scheme = "light") -> Page:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(report.as_uri())
    return page


@pytest.mark.parametrize("width", [1280, 760, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_the_window_and_asks_for_nothing(
    browser: Browser, report: Path, width: int, scheme: Scheme
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    said: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.evaluate(TOO_WIDE) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []
    assert requests == [report.as_uri()]
    assert page.title().endswith("evenhand")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(16, 22, 31)")


def test_the_plot_has_the_layout_of_its_width_and_the_colours_of_the_scheme(
    browser: Browser, report: Path
) -> None:
    wide = _open(browser, report, 1280, "dark")
    assert wide.locator(".plot.wide svg").is_visible()
    assert not wide.locator(".plot.narrow svg").is_visible()
    colour = "getComputedStyle(document.querySelector('.plot.wide text')).fill"
    assert wide.evaluate(colour) == "rgb(230, 235, 242)"
    narrow = _open(browser, report, 390)
    assert narrow.locator(".plot.narrow svg").is_visible()
    letters = "parseFloat(getComputedStyle(document.querySelector('.plot.narrow text')).fontSize)"
    scale = "document.querySelector('.plot.narrow svg').getBoundingClientRect().width / 350"
    assert narrow.evaluate(f"{letters} * {scale}") >= 12


@pytest.mark.parametrize("width", [1280, 390])
def test_a_number_leads_to_its_rows_and_a_row_to_its_texts(
    browser: Browser, report: Path, width: int
) -> None:
    page = _open(browser, report, width)
    page.locator("#measurements table a").first.click()
    rows = page.locator(":target")
    rows.wait_for(state="visible")
    assert page.url.endswith("#rows-1")
    rows.locator("a").first.click()
    page.wait_for_url("**#answer-*")
    answer = page.locator(":target")
    answer.wait_for(state="visible")
    assert "<script>" in answer.inner_text()
    assert answer.evaluate("e => e.getBoundingClientRect().top < innerHeight")


def test_a_mark_of_the_forest_leads_to_its_rows_by_key(browser: Browser, report: Path) -> None:
    page = _open(browser, report)
    mark = page.locator(".plot.wide .mark").first
    assert "age" in (mark.get_attribute("aria-label") or "")
    mark.focus()
    page.keyboard.press("Enter")
    page.locator(":target").wait_for(state="visible")
    assert page.url.endswith("#rows-1")


def test_the_first_tab_skips_to_what_was_found(browser: Browser, report: Path) -> None:
    page = _open(browser, report)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to what was found"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"


def test_printing_on_paper_shows_plot_and_every_number(browser: Browser, report: Path) -> None:
    page = _open(browser, report, width=720, scheme="dark")
    page.emulate_media(media="print")
    assert page.locator(".plot.wide svg").is_visible()
    assert not page.locator(".plot.narrow svg").is_visible()
    assert page.locator("#measurements table").last.is_visible()
    assert not page.locator("nav").is_visible()
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
