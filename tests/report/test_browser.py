"""The report in a real browser: it draws, asks the network for nothing, and takes no harm from hostile texts."""

from __future__ import annotations

import json

import pytest

from graspel.plot.palette import COLORS
from graspel.report import write_report
from graspel.report.contents import list_states
from report.conftest import HOSTILE

TITLE = "</title><script>window.harmed = 'title'</script> & 'quotes' \" 🎉"
SOURCE = "<img src=x onerror=alert(1)>'\" \udcff.npy"


@pytest.fixture(scope="module")
def report(model, hostile_labels, tmp_path_factory):
    """The file of the report, whose name has odd characters too."""
    path = tmp_path_factory.mktemp("pages") / "it's <b> &amp; 100% 🎉.html"
    write_report(model, path, labels=hostile_labels, clusters=hostile_labels[::-1], title=TITLE, source=SOURCE)
    return path


@pytest.fixture(scope="module")
def opened(browser, report):
    """The browser with the report open, from the disk; its logs begin with this page."""
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(report.as_uri())
    wait(browser, "return document.body.dataset.drawn === 'yes'")
    return browser


def wait(browser, condition):
    """Wait until a script returns something true."""
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(browser, 60, poll_frequency=0.05).until(lambda page: page.execute_script(condition))


def segments(page):
    """How many edges of the rounds are in the drawing."""
    return page.execute_script("return document.getElementById('drawing').data[1].x.length / 3")


def test_it_draws_without_a_word_on_the_console_and_without_the_network(opened):
    said = [entry["message"] for entry in opened.get_log("browser") if entry["level"] == "SEVERE"]
    assert not said
    events = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:", "chrome:"))] == []
    assert len([url for url in asked if url.startswith("file:")]) == 1


def test_the_drawing_is_there(opened, model):
    traces = opened.execute_script("return document.getElementById('drawing').data.map((t) => [t.type, t.mode])")
    assert traces[0][1] == "lines"
    assert {kind for kind, _ in traces} <= {"scatter3d", "scatter"}
    assert opened.execute_script("return document.querySelectorAll('#drawing canvas, #drawing .scatterlayer').length")
    drawn = opened.execute_script(
        "return document.getElementById('drawing').data.slice(2).reduce((sum, t) => sum + t.x.length, 0)"
    )
    assert drawn == model.graph_.n_nodes
    for chart in ("tradeoff", "convergence", "spectrum", "sizes"):
        assert opened.execute_script(f"return document.querySelectorAll('#{chart} svg').length")


def test_the_preview_is_drawn_before_plotly_starts_and_removed_when_the_drawing_is_there(opened, report, tmp_path):
    assert opened.execute_script("return document.getElementById('preview') === null")
    page, without_plotly = report.read_text(encoding="utf-8"), tmp_path / "without_plotly.html"
    without_plotly.write_text(page[: page.index("<script>\n/**\n* plotly.js")], encoding="utf-8")
    first = opened.current_window_handle
    opened.switch_to.new_window("tab")
    try:
        opened.get(without_plotly.as_uri())
        colors = opened.execute_script(
            "const canvas = document.getElementById('preview'), seen = new Set();"
            "const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
            "const hex = (byte) => byte.toString(16).padStart(2, '0');"
            "for (let i = 0; i < data.length; i += 4)"
            "  if (data[i + 3] === 255) seen.add('#' + hex(data[i]) + hex(data[i + 1]) + hex(data[i + 2]));"
            "return [...seen];"
        )
        assert {color.lower() for color in COLORS[:8]} <= set(colors)
    finally:
        opened.close()
        opened.switch_to.window(first)


def test_the_slider_changes_the_drawing_and_says_where_it_is(opened, model):
    found = list_states(model.graph_, model.history_)
    assert segments(opened) == (model.graph_.round > 0).sum() > 0
    for state in (0, 1, len(found) - 1):
        opened.execute_script(
            "const slider = document.getElementById('rounds'); slider.value = arguments[0];"
            "slider.dispatchEvent(new Event('input'));",
            state,
        )
        expected = int(((model.graph_.round > 0) & (model.graph_.round <= state)).sum())
        wait(opened, f"return document.getElementById('drawing').data[1].x.length === {3 * expected}")
        assert f"{found[state]['edges']:,} edges" in opened.execute_script(
            "return document.getElementById('state').textContent"
        )


def test_the_table_filters(opened, model):
    rows = "return [...document.querySelectorAll('#edges tbody tr')].filter((row) => !row.hidden).length"
    whole = opened.execute_script(rows)
    assert whole == min(500, model.graph_.n_edges)
    search = opened.find_element("id", "search")
    search.send_keys("closest pair")
    assert opened.execute_script(rows) == int((model.graph_.origin == 4).sum()) < whole
    search.send_keys(" nothing has this")
    assert opened.execute_script(rows) == 0
    search.clear()
    opened.execute_script("document.getElementById('search').dispatchEvent(new Event('input'))")
    assert opened.execute_script(rows) == whole


def test_hostile_texts_are_shown_and_do_nothing(opened):
    assert opened.execute_script("return window.harmed === undefined")
    assert opened.title == TITLE
    assert opened.find_element("tag name", "h1").text == " ".join(TITLE.split())
    assert opened.execute_script("return document.querySelectorAll('img, a[href^=javascript], iframe').length") == 0
    assert opened.execute_script("return document.scripts.length") == 4
    names = opened.execute_script("return document.getElementById('drawing').data.slice(2).map((t) => t.name)")
    assert len(names) == len(HOSTILE)
    assert all("<" not in name for name in names)
    assert max(map(len, names)) < 200
    legend = opened.execute_script("return document.querySelector('#drawing .legend').textContent")
    assert HOSTILE[0][:20] in legend
    assert HOSTILE[0] in opened.execute_script("return document.getElementById('edges').textContent")
    assert "\u202e" not in opened.execute_script("return document.body.textContent")
    assert "<img src=x onerror=alert(1)>" in opened.find_element("tag name", "body").text


def test_the_colors_can_be_changed(opened):
    before = opened.execute_script("return document.getElementById('drawing').data[2].x.length")
    opened.execute_script(
        "const select = document.getElementById('coloring'); select.value = '0';"
        "select.dispatchEvent(new Event('change'));"
    )
    note = "return document.getElementById('sizes-note').textContent.startsWith('Points in each cluster')"
    assert opened.execute_script(note)
    assert before > 0
    assert opened.execute_script("return window.harmed === undefined")
