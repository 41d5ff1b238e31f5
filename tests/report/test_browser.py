"""The report in a real browser: it draws and answers, is readable, asks the network for nothing, and takes no harm."""

from __future__ import annotations

import csv
import io
import json
from itertools import pairwise

import numpy as np
import pytest

from graspel import GraspelClustering
from graspel.report import write_report
from graspel.report.making import list_states
from report.conftest import HOSTILE

TITLE = "</title><script>window.harmed = 'title'</script> & 'quotes' \" 🎉"
SOURCE = "<img src=x onerror=alert(1)>'\" \udcff.npy"
VIEWS = [(1280, 900, "light"), (1280, 900, "dark"), (390, 844, "light"), (390, 844, "dark")]
# Each text of the page that can be seen: its color and the color behind it.
CONTRAST = """
const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
const parse = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const over = (front, back) => {
  const a = front.length > 3 ? front[3] : 1;
  return [0, 1, 2].map((k) => a * front[k] + (1 - a) * back[k]);
};
const ground = (node) => {
  const own = parse(getComputedStyle(node).backgroundColor);
  if (own.length < 4 || own[3] === 1) return own.slice(0, 3);
  return over(own, node.parentElement ? ground(node.parentElement) : [255, 255, 255]);
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), poor = [];
let seen = 0;
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement, style = getComputedStyle(node);
  if (!walker.currentNode.textContent.trim() || !node.checkVisibility()) continue;
  if (node.closest("script, noscript, style")) continue;
  seen++;
  const back = ground(node);
  const front = over(parse(node.closest("svg") ? style.fill : style.color), back);
  const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
  const contrast = (a + 0.05) / (b + 0.05);
  if (contrast < 4.5) poor.push([node.tagName, node.className, walker.currentNode.textContent.slice(0, 40), contrast]);
}
return [seen, poor];
"""
# Elements that stick out of the page sideways, apart from what lies inside a box that scrolls.
CUT_OFF = """
const width = document.documentElement.clientWidth, out = [];
for (const node of document.querySelectorAll("body *")) {
  if (!node.checkVisibility() || node.closest("script, noscript, .hidden, .scroll *, pre *")) continue;
  const { left, right } = node.getBoundingClientRect();
  if (right > width + 1 || left < -1) out.push([node.tagName, node.id, node.className, left, right]);
}
return [document.documentElement.scrollWidth - width, out];
"""


def wait(browser, condition):
    """Wait until a script returns something true."""
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(browser, 60, poll_frequency=0.05).until(lambda page: page.execute_script(condition))


def set_view(browser, width, height, theme):
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wishes = {"prefers-color-scheme": theme, "prefers-reduced-motion": "reduce"}
    media = {"features": [{"name": name, "value": value} for name, value in wishes.items()]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def open_page(browser, path):
    browser.get(path.as_uri())
    wait(browser, "return document.body.dataset.drawn === 'yes'")


def complaints(browser):
    """What the console says of errors, and of WebGL used in a wrong way."""
    entries = browser.get_log("browser")
    return [e["message"] for e in entries if e["level"] == "SEVERE" or "INVALID" in e["message"]]


def ask(browser, expression):
    return browser.execute_script(f"const page = graspelReport; return {expression}")


@pytest.fixture(scope="module")
def report(model, blobs, hostile_labels, tmp_path_factory):
    """The file of a report in which every text is hostile, and whose name has odd characters too."""
    path = tmp_path_factory.mktemp("pages") / "it's <b> &amp; 100% 🎉.html"
    words = [HOSTILE[(i + 3) % len(HOSTILE)] for i in range(len(blobs[0]))]
    write_report(
        model,
        path,
        labels=hostile_labels,
        clusters=hostile_labels[::-1],
        names=words,
        texts=words[::-1],
        features=HOSTILE[:5],
        images=np.random.default_rng(0).random((len(blobs[0]), 6, 9, 3)),
        title=TITLE,
        source=SOURCE,
    )
    return path


@pytest.fixture
def opened(browser, report):
    """The browser with the report open, from the disk; its logs begin with this page."""
    set_view(browser, 1280, 900, "light")
    browser.get_log("browser")
    browser.get_log("performance")
    open_page(browser, report)
    return browser


@pytest.fixture(scope="module")
def plain(blobs, tmp_path_factory):
    """The report of a clusterer, without hostile words: features, names and classes."""
    X, y = blobs
    path = tmp_path_factory.mktemp("plain") / "plain.html"
    names, labels = [f"item {i}" for i in range(len(X))], np.array([f"kind {k}" for k in y])
    write_report(GraspelClustering(8, random_state=0).fit(X), path, labels=labels, names=names)
    return path


# --- readable everywhere ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: f"{view[0]}-{view[2]}")
@pytest.mark.parametrize("which", ["report", "plain"])
def test_nothing_is_cut_off_and_all_texts_can_be_read(browser, request, view, which):
    set_view(browser, *view)
    browser.get_log("browser")
    open_page(browser, request.getfixturevalue(which))
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true;")
    wait(browser, "return document.getElementById('made').dataset.drawn === 'yes'")
    browser.execute_script("graspelReport.pick(3); graspelReport.choose([1, 2, 3]);")
    too_wide, cut_off = browser.execute_script(CUT_OFF)
    assert cut_off == []
    assert too_wide == 0
    seen, poor = browser.execute_script(CONTRAST)
    assert seen > 100
    assert poor == []
    assert complaints(browser) == []


def test_the_map_is_seen_at_once_on_a_desk_and_on_a_phone(browser, plain):
    for view in (VIEWS[0], VIEWS[2]):
        set_view(browser, *view)
        open_page(browser, plain)
        top, height = browser.execute_script(
            "const box = document.getElementById('map').getBoundingClientRect(); return [box.top, box.height]"
        )
        assert top < 0.66 * view[1]
        assert height >= 300


def test_the_keyboard_reaches_everything(browser, plain):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    set_view(browser, *VIEWS[0])
    open_page(browser, plain)
    browser.execute_script("document.getElementById('made').open = true; graspelReport.choose([1, 2]);")
    wait(browser, "return document.getElementById('made').dataset.drawn === 'yes'")
    browser.execute_script(  # the buttons of a few edges will do
        "const search = document.getElementById('edge-search'); search.value = 'item 11';"
        "search.dispatchEvent(new Event('input'));"
    )
    wanted = browser.execute_script(
        "const all = document.querySelectorAll('a[href], button, input, select, summary, canvas.over, .scroll, pre');"
        "const open = [...all].filter((one) => one.checkVisibility() && one.getAttribute('aria-selected') !== 'false');"
        "open.forEach((one, k) => { one.dataset.wanted = k; }); return open.length;"
    )
    browser.execute_script(
        "window.reached = new Set(); window.unseen = [];"
        "document.addEventListener('focusin', ({ target }) => {"
        "  const style = getComputedStyle(target);"
        "  if (target.dataset.wanted !== undefined) window.reached.add(Number(target.dataset.wanted));"
        "  if (style.outlineStyle === 'none' || !parseFloat(style.outlineWidth)) window.unseen.push(target.outerHTML);"
        "});"
    )
    ActionChains(browser, duration=0).send_keys(Keys.TAB * (wanted + 30)).perform()
    assert set(browser.execute_script("return [...window.reached]")) == set(range(wanted))
    assert browser.execute_script("return window.unseen") == [], "the focus can be seen"


def test_the_map_is_moved_and_points_are_picked_with_keys(browser, plain):
    from selenium.webdriver.common.keys import Keys

    set_view(browser, *VIEWS[0])
    open_page(browser, plain)
    canvas = browser.find_element("css selector", "#map canvas.over")
    before = ask(browser, "[...page.map.camera.pan, page.map.camera.zoom]")
    canvas.send_keys(Keys.ARROW_LEFT, "+")
    after = ask(browser, "[...page.map.camera.pan, page.map.camera.zoom]")
    assert after[0] > before[0]
    assert after[2] > before[2]
    browser.execute_script("graspelReport.map.lookAt(17)")
    canvas.send_keys(Keys.ENTER)
    assert ask(browser, "page.panel.picked") == 17
    canvas.send_keys("0")
    assert ask(browser, "page.map.camera.zoom") == 1


# --- drawing ---------------------------------------------------------------------------------------------------------


def test_it_draws_without_a_word_on_the_console_and_without_the_network(opened):
    assert complaints(opened) == []
    events = [json.loads(entry["message"])["message"] for entry in opened.get_log("performance")]
    asked = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:", "chrome:"))] == []
    assert len([url for url in asked if url.startswith("file:")]) == 1


# What a graphics card would do is done by the processor if the page cannot know it.
PAINTERS = {
    "webgl": "WebGL2RenderingContext.prototype.getExtension = () => null;"
    "const get = HTMLCanvasElement.prototype.getContext;"
    "HTMLCanvasElement.prototype.getContext = function (kind, more) {"
    "  return get.call(this, kind, kind === 'webgl2' ? { preserveDrawingBuffer: true } : more); };",
    "raster": "const get = HTMLCanvasElement.prototype.getContext;"
    "HTMLCanvasElement.prototype.getContext = function (kind, more) {"
    "  return kind === 'webgl2' ? null : get.call(this, kind, more); };",
}
COUNT_COLORS = """
const view = arguments[0], page = graspelReport;
page.show(view);
page.map.drawNow();
const copy = document.createElement("canvas"), { canvas } = page.map;
Object.assign(copy, { width: canvas.width, height: canvas.height });
const pen = copy.getContext("2d");
pen.drawImage(canvas, 0, 0);
const { data } = pen.getImageData(0, 0, copy.width, copy.height), seen = {};
const hex = (byte) => byte.toString(16).padStart(2, "0");
for (let i = 0; i < data.length; i += 4) {
  if (data[i + 3] < 255) continue;
  const color = "#" + hex(data[i]) + hex(data[i + 1]) + hex(data[i + 2]);
  seen[color] = (seen[color] ?? 0) + 1;
}
return [seen, data.filter((_, k) => k % 4 === 3).reduce((sum, a) => sum + (a > 0), 0)];
"""


def open_with_painter(browser, path, painter):
    """Open a page that has to draw with this painter; skip the test where the browser cannot."""
    set_view(browser, *VIEWS[0])
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": PAINTERS[painter]})
    try:
        browser.get_log("browser")
        open_page(browser, path)
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)
    if painter == "webgl" and ask(browser, "page.map.painter.kind") != "webgl":
        pytest.skip("this browser has no WebGL2")


@pytest.mark.parametrize("painter", PAINTERS)
def test_points_and_edges_are_drawn_in_their_colors(browser, plain, painter):
    open_with_painter(browser, plain, painter)
    assert browser.execute_script("return document.body.dataset.painter") == painter
    colors = ["#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#1a1a1a", "#b5a400"]
    inked = {}
    for view in ("map", "edges", "space"):
        seen, inked[view] = browser.execute_script(COUNT_COLORS, view)
        assert all(seen.get(color, 0) > 50 for color in colors), (view, seen)
    assert inked["edges"] > inked["map"], "the edges are there too"
    browser.execute_script("graspelReport.highlight(0)")
    seen, _ = browser.execute_script(COUNT_COLORS, "map")
    assert set(seen) & set(colors) == {colors[0]}, "one group is lit up, the others are faint"
    assert complaints(browser) == []


# The number of pixels of the map with ink, if all points are drawn with this factor of their size.
COUNT_INK = """
const { map } = graspelReport, { canvas } = map;
map.painter.setPlaces(map.points, map.factors.map(() => arguments[0]));
map.drawNow();
const copy = document.createElement("canvas");
Object.assign(copy, { width: canvas.width, height: canvas.height });
const pen = copy.getContext("2d");
pen.drawImage(canvas, 0, 0);
return pen.getImageData(0, 0, copy.width, copy.height).data.filter((a, k) => k % 4 === 3 && a > 0).length;
"""


@pytest.mark.parametrize("painter", PAINTERS)
def test_points_are_drawn_in_their_sizes(browser, plain, painter):
    """The map gives every point a size by density, and either painter heeds it."""
    open_with_painter(browser, plain, painter)
    factors = ask(browser, "[...page.map.factors]")
    assert len(factors) == ask(browser, "page.points.n")
    assert min(factors) < 1 < max(factors)
    small, usual, large = (browser.execute_script(COUNT_INK, factor) for factor in (0.6, 1.0, 1.25))
    assert 0 < small < 0.7 * usual
    assert 1.1 * usual < large
    assert complaints(browser) == []


def test_the_page_follows_the_theme_of_the_system(browser, plain):
    set_view(browser, *VIEWS[0])
    open_page(browser, plain)
    light = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    set_view(browser, *VIEWS[1])
    wait(browser, f"return getComputedStyle(document.body).backgroundColor !== '{light}'")
    # The page redraws its colors after the style has changed: until then the wait goes on, and it fails in the end.
    swatch = "getComputedStyle(document.querySelector('#legend .swatch')).backgroundColor"
    assert wait(browser, f"return {swatch} !== 'rgb(0, 114, 178)'")


def test_names_of_groups_stand_on_the_map(browser, plain):
    set_view(browser, *VIEWS[0])
    open_page(browser, plain)
    labels = ask(browser, "page.map.labels.map((one) => [one.text, page.points.cluster(one.point)])")
    assert len(labels) == 8
    assert all(text == cluster for text, cluster in labels)
    assert {text for text, _ in labels} == {f"mostly kind {k}" for k in range(8)}, "no name of a class"


def test_the_slider_shows_the_graph_after_each_round(opened, model):
    found = list_states(model.graph_, model.history_)
    opened.execute_script("document.getElementById('made').open = true")
    wait(opened, "return document.getElementById('made').dataset.drawn === 'yes'")
    for state in (0, 1, len(found) - 1):
        opened.execute_script(
            "const slider = document.getElementById('rounds'); slider.value = arguments[0];"
            "slider.dispatchEvent(new Event('input'));",
            state,
        )
        layers = ask(opened, "page.drawings[1].layers.map((one) => one.to)")
        assert layers[-1] == int((model.graph_.round <= state).sum())
        said = opened.execute_script("return document.getElementById('state').textContent")
        assert said.startswith(f"after {state} round")
        assert f"{found[state]['edges']:,} edges" in said


# --- what the reader does --------------------------------------------------------------------------------------------


def test_a_click_picks_a_point_and_shows_its_neighbors_with_reasons(browser, plain):
    from selenium.webdriver.common.action_chains import ActionChains

    set_view(browser, *VIEWS[0])
    open_page(browser, plain)
    canvas = browser.find_element("css selector", "#map canvas.over")
    x, y = ask(browser, "page.map.camera.project(40)")
    width, height = ask(browser, "[page.map.camera.width, page.map.camera.height]")
    ActionChains(browser).move_to_element_with_offset(canvas, x - width / 2, y - height / 2).click().perform()
    picked = ask(browser, "page.panel.picked")
    distance = ask(browser, f"Math.hypot(...page.map.camera.project({picked}).map((v, k) => v - [{x}, {y}][k]))")
    assert distance < 15
    panel = browser.find_element("id", "panel").text
    assert f"item {picked}" in panel
    assert "nearest neighbors in the data" in panel or "closest pair" in panel
    n_neighbors = ask(browser, f"page.network.neighbors({picked}).length")
    assert f"{n_neighbors} neighbor" in panel
    assert len(browser.find_elements("css selector", "#panel .near li")) == n_neighbors


def test_the_shortest_path_between_two_points(browser, plain):
    set_view(browser, *VIEWS[0])
    open_page(browser, plain)
    browser.execute_script("graspelReport.pick(0)")
    button = browser.find_element("xpath", "//button[contains(., 'Shortest path')]")
    button.click()
    browser.execute_script("graspelReport.pick(119)")
    path = ask(browser, "page.panel.path")
    assert (path[0], path[-1]) == (0, 119)
    for p, q in pairwise(path):
        assert q in ask(browser, f"page.network.neighbors({p}).map((one) => one.point)")
    assert f"Shortest path, {len(path) - 1} edge" in browser.find_element("id", "panel").text


def test_the_search_finds_names_classes_and_groups(browser, plain):
    from selenium.webdriver.common.keys import Keys

    set_view(browser, *VIEWS[0])
    open_page(browser, plain)
    field = browser.find_element("id", "search")
    field.send_keys("item 77")
    wait(browser, "return document.getElementById('found').textContent.includes('1 point found')")
    field.send_keys(Keys.ENTER)
    assert ask(browser, "page.points.name(page.panel.picked)") == "item 77"
    field.clear()
    field.send_keys("kind 3")
    wait(browser, "return document.getElementById('found').textContent.includes('15 points found')")
    browser.find_element("xpath", "//button[contains(., 'Choose all 15')]").click()
    assert ask(browser, "page.panel.chosen.map((i) => page.points.label(i))") == ["kind 3"] * 15
    field.clear()
    field.send_keys("nothing has this name")
    wait(browser, "return document.getElementById('found').textContent.includes('nothing found')")


def test_the_lasso_chooses_and_the_choice_is_saved(browser, plain, tmp_path):
    from selenium.webdriver.common.action_chains import ActionChains

    set_view(browser, *VIEWS[0])
    behavior = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", behavior)
    open_page(browser, plain)
    browser.find_element("id", "lasso").click()
    canvas = browser.find_element("css selector", "#map canvas.over")
    half = [v / 2 - 6 for v in ask(browser, "[page.map.camera.width, page.map.camera.height]")]
    chain = ActionChains(browser, duration=20).move_to_element_with_offset(canvas, -half[0], -half[1]).click_and_hold()
    for x, y in ((0, -half[1]), (0, half[1]), (-half[0], half[1])):
        chain = chain.move_to_element_with_offset(canvas, x, y)
    chain.release().perform()
    chosen = ask(browser, "page.panel.chosen")
    all_points = "Array.from({length: page.points.n}, (_, i) => i)"
    left = ask(browser, f"{all_points}.filter((i) => page.map.camera.project(i)[0] < page.map.camera.width / 2)")
    assert 0 < len(chosen) < 120
    assert len(set(chosen) ^ set(left)) <= 4, "but for points at the very rim"
    browser.find_element("id", "export").click()
    path = tmp_path / "chosen points.csv"
    wait_for(path)
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    assert [int(row["row"]) for row in rows] == chosen
    assert all(row["name"] == f"item {row['row']}" and row["class"].startswith("kind") for row in rows)


def wait_for(path):
    import time

    for _ in range(200):
        if path.exists() and path.stat().st_size:
            return
        time.sleep(0.05)
    raise AssertionError(f"{path.name} was not saved")


def test_a_group_is_renamed_everywhere_and_the_name_is_kept(browser, plain):
    set_view(browser, *VIEWS[0])
    open_page(browser, plain)
    card = browser.find_element("css selector", "#group-2")
    card.find_element("xpath", ".//button[text()='Rename']").click()
    field = browser.find_element("css selector", "#group-2 input")
    field.clear()
    field.send_keys("<b>mine</b>\n")
    for place in ("#group-2 .name", "#legend", "#classes"):
        assert "<b>mine</b>" in browser.find_element("css selector", place).text
    assert "<b>mine</b>" in ask(browser, "page.map.labels.map((one) => one.text)")
    open_page(browser, plain)
    assert ask(browser, "page.points.clusters.names[2]") == "<b>mine</b>"
    browser.execute_script("localStorage.clear()")


def test_the_colors_can_be_changed(browser, plain):
    from selenium.webdriver.support.ui import Select

    set_view(browser, *VIEWS[0])
    open_page(browser, plain)
    Select(browser.find_element("id", "coloring")).select_by_value("class")
    assert ask(browser, "page.coloring.kind") == "class"
    assert "kind 0" in browser.find_element("id", "legend").text


def test_the_edges_filter(opened, model):
    opened.execute_script("document.getElementById('made').open = true")
    wait(opened, "return document.getElementById('made').dataset.drawn === 'yes'")
    rows = "return document.querySelectorAll('#edges tbody tr').length"
    whole = opened.execute_script(rows)
    assert whole == min(300, model.graph_.n_edges)
    search = opened.find_element("id", "edge-search")
    search.send_keys("closest pair")
    assert opened.execute_script(rows) == int((model.graph_.origin == 4).sum()) < whole
    search.send_keys(" nothing has this")
    assert opened.execute_script(rows) == 0


# --- hostile texts ---------------------------------------------------------------------------------------------------


def test_hostile_texts_are_shown_and_do_nothing(opened):
    opened.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for i in range(0, 120, 17):
        opened.execute_script("graspelReport.pick(arguments[0], true)", i)
    opened.execute_script("graspelReport.choose([0, 1, 2, 3, 4, 5, 6, 7, 8])")
    opened.execute_script("document.getElementById('search').value = 'harmed'; graspelReport.search()")
    opened.execute_script("graspelReport.map.hover({ offsetX: 400, offsetY: 300 })")
    assert opened.execute_script("return window.harmed === undefined")
    assert opened.title == TITLE
    assert opened.find_element("tag name", "h1").text == " ".join(TITLE.split())
    sources = opened.execute_script("return [...document.images].map((one) => one.src)")
    assert all(source.startswith("data:image/") for source in sources)
    assert opened.execute_script("return document.querySelectorAll('a[href^=javascript], iframe, object').length") == 0
    assert opened.execute_script("return document.scripts.length") == 4
    text = opened.execute_script("return document.body.innerText")
    for words in (*HOSTILE[:5], "<img src=x onerror=alert(1)>"):
        assert " ".join(words.split())[:50] in " ".join(text.split())
    assert "\u202e" not in text
    assert "x" * 700 not in text
    assert complaints(opened) == []
