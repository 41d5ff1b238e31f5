"""Tables, texts and many groups in a real browser: rows, columns as colors, marked words, links to points, themes."""

from __future__ import annotations

import numpy as np
import pytest

from graspel import GRASPEL, GraspelClustering
from graspel.report import write_report
from report.test_browser import COUNT_COLORS, CUT_OFF, VIEWS, ask, open_page, set_view, wait


@pytest.fixture(scope="module")
def customers(tmp_path_factory):
    """A table in its own units with a planted outlier, texts with a word for each group, and twelve groups."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(12), 15)
    centers = rng.permuted(np.tile(np.arange(12.0)[:, None], 3), axis=0) * [5, 4000, 0.05] + [20, 15_000, 0.2]
    X = centers[y] + rng.standard_normal((len(y), 3)) * [0.4, 300, 0.004]
    X[7, 1] = 400_000.0
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    model = GRASPEL(random_state=0).fit(scaled)
    path = tmp_path_factory.mktemp("customers") / "customers.html"
    texts = [f"Customer {i} buys {['apples', 'pears', 'plums'][k % 3]} <b>often</b>" for i, k in enumerate(y)]
    features = ["age", "income", "share"]
    write_report(model, path, clusters=y, X=X, features=features, texts=texts, labels=y % 3, title="Customers")
    return path


def test_a_point_shows_its_row_in_the_units_of_the_user(browser, customers):
    set_view(browser, *VIEWS[0])
    open_page(browser, customers)
    browser.execute_script("graspelReport.pick(7)")
    rows = [row.text for row in browser.find_elements("css selector", "#panel .values tbody tr")]
    assert rows[0].startswith("income 400,000"), "the column in which it differs comes first"
    assert [row.text for row in browser.find_elements("css selector", "#panel .values .odd th")] == ["income"]
    assert {row.split()[0] for row in rows} == {"age", "income", "share"}
    browser.execute_script("graspelReport.pick(30)")
    assert browser.find_elements("css selector", "#panel .values .odd") == []
    table = browser.find_element("css selector", "#anomalies .scroll").text
    assert "income 400,000" in " ".join(table.split()), "the outlier says which column is odd"


def test_points_take_the_colors_of_a_column(browser, customers):
    from selenium.webdriver.support.ui import Select

    set_view(browser, *VIEWS[0])
    open_page(browser, customers)
    Select(browser.find_element("id", "coloring")).select_by_visible_text("age")
    positions = ask(browser, "[...page.coloring.positions]")
    assert 0 == min(positions) < max(positions) == 1
    assert "age" in browser.find_element("id", "legend").text
    seen, _ = browser.execute_script(COUNT_COLORS, "map")
    assert sum(number > 20 for number in seen.values()) > 8
    Select(browser.find_element("id", "coloring")).select_by_value("cluster")
    assert len(browser.find_elements("css selector", "#legend .key")) == 12


def test_many_groups_are_a_table_that_sorts_and_opens(browser, customers):
    set_view(browser, *VIEWS[0])
    open_page(browser, customers)
    assert len(browser.find_elements("css selector", "#groups .sortable > tbody > tr")) == 12
    assert browser.find_elements("css selector", "#groups .card") == []
    first = "return document.querySelector('#groups .group-name').textContent"
    head = browser.find_element("css selector", "#groups th .sort")
    head.click()
    lowest = browser.execute_script(first)
    head.click()
    assert browser.execute_script(first) > lowest
    assert browser.find_element("css selector", "#groups th").get_attribute("aria-sort") == "descending"
    opener = browser.find_element("css selector", "#groups tbody .key")
    opener.click()
    card = browser.find_element("css selector", "#groups .card")
    assert opener.get_attribute("aria-expanded") == "true"
    assert len(card.find_elements("css selector", ".distribution")) >= 1
    card.find_element("css selector", ".link").click()
    assert len(ask(browser, "page.panel.chosen")) == 15, "the number of points selects them"
    opener.click()
    assert browser.find_elements("css selector", "#groups .card") == []


def test_names_of_groups_are_no_names_of_classes(browser, customers):
    open_page(browser, customers)
    groups, classes = ask(browser, "[page.points.clusters.names, page.points.known.names]")
    assert not set(groups) & set(classes)
    assert len(set(groups)) == len(groups)


def test_the_legend_has_the_shapes_of_the_map(browser, customers):
    set_view(browser, *VIEWS[0])
    open_page(browser, customers)
    shapes = browser.execute_script(
        "return [...document.querySelectorAll('#legend .swatch')]"
        ".map((one) => [Number(one.dataset.group), one.className])"
    )
    assert all(f"shape-{group // 10}" in name for group, name in shapes)
    assert len({name for _, name in shapes}) == 2


def test_the_words_of_a_search_are_marked_in_the_texts(browser, customers):
    set_view(browser, *VIEWS[0])
    open_page(browser, customers)
    browser.find_element("id", "search").send_keys("PEARS often")
    wait(browser, "return document.getElementById('found').textContent.includes('60 points found')")
    marked = [mark.text for mark in browser.find_elements("css selector", "#found .chip:first-child mark")]
    assert marked == ["pears", "often"]
    browser.execute_script("graspelReport.pick(15)")
    text = browser.find_element("css selector", "#panel .text")
    assert text.text == "Customer 15 buys pears <b>often</b>"
    assert [mark.text for mark in text.find_elements("tag name", "mark")] == ["pears", "often"]


def test_a_claim_selects_the_points_behind_it(browser, customers):
    set_view(browser, *VIEWS[0])
    open_page(browser, customers)
    link = next(one for one in browser.find_elements("css selector", ".summary a") if "lie" in one.text)
    link.click()
    chosen = ask(browser, "page.panel.chosen")
    assert 7 in chosen
    assert f"{len(chosen)} point" in browser.find_element("css selector", "#panel .chosen h4").text
    assert f"{len(chosen):,} point" in link.text
    cell = browser.find_element("css selector", ".heat .cell")
    cell.click()
    assert len(ask(browser, "page.panel.chosen")) == int(cell.text)


@pytest.mark.parametrize("view", [VIEWS[0], VIEWS[2]], ids=["wide", "narrow"])
def test_what_was_chosen_is_in_sight(browser, customers, view):
    set_view(browser, *view)
    open_page(browser, customers)
    browser.execute_script("graspelReport.pick(7); graspelReport.choose([1, 2, 3]);")
    wait(
        browser,
        "const { top, bottom } = document.querySelector('#panel .chosen').getBoundingClientRect();"
        "return top >= 0 && top < innerHeight - 60;",
    )


def test_the_theme_can_be_chosen_and_is_kept(browser, customers):
    set_view(browser, *VIEWS[0])
    open_page(browser, customers)
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = browser.execute_script(ground)
    try:
        browser.find_element("id", "theme").click()
        dark = browser.execute_script(ground)
        assert dark != light
        swatch = "return getComputedStyle(document.querySelector('#legend .swatch')).backgroundColor"
        assert browser.execute_script(swatch) == "rgb(63, 162, 224)"
        open_page(browser, customers)
        assert browser.execute_script(ground) == dark
        set_view(browser, *VIEWS[1])
        browser.find_element("id", "theme").click()
        assert browser.execute_script(ground) == light, "light, although the system is dark"
    finally:
        browser.execute_script("localStorage.clear()")


def test_the_graph_in_space_stands_in_the_middle(browser, customers):
    set_view(browser, *VIEWS[0])
    open_page(browser, customers)
    browser.execute_script("graspelReport.show('space'); graspelReport.map.drawNow();")
    screen, width, height = ask(
        browser, "[[...page.map.camera.projectAll()], page.map.camera.width, page.map.camera.height]"
    )
    xs, ys = screen[::2], screen[1::2]
    assert abs((min(xs) + max(xs)) / 2 - width / 2) < 0.03 * width
    assert abs((min(ys) + max(ys)) / 2 - height / 2) < 0.03 * height
    assert max(xs) - min(xs) > 0.7 * width or max(ys) - min(ys) > 0.7 * height


def test_edges_of_one_group_are_drawn_alone(browser, customers):
    set_view(browser, *VIEWS[0])
    open_page(browser, customers)
    browser.execute_script("graspelReport.show('edges')")
    drawn = "page.map.layers.reduce((sum, { from, to }) => sum + to - from, 0)"
    assert ask(browser, drawn) == ask(browser, "page.edges.heads.length")
    browser.execute_script("graspelReport.highlight(3)")
    of_group = ask(
        browser,
        "page.edges.heads.filter((p, e) => [p, page.edges.tails[e]]"
        ".some((i) => page.coloring.classes[i] === 3)).length",
    )
    assert 0 < ask(browser, drawn) == of_group < ask(browser, "page.edges.heads.length")
    browser.execute_script("graspelReport.highlight(-1)")
    assert ask(browser, drawn) == ask(browser, "page.edges.heads.length")


def test_sixty_groups_and_classes_fit(browser, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(60), 6)
    X = rng.standard_normal((60, 4))[y] * 20 + rng.standard_normal((360, 4))
    path = tmp_path / "sixty.html"
    write_report(GRASPEL(random_state=0).fit(X), path, clusters=y, labels=[f"a class {k}" for k in y])
    set_view(browser, 1400, 900, "light")
    open_page(browser, path)
    assert browser.execute_script("return document.documentElement.scrollHeight") < 6_000
    inside = "const box = document.querySelector('.heat').parentElement; return box.scrollWidth - box.clientWidth"
    assert browser.execute_script(inside) <= 0, "all columns are in sight"
    set_view(browser, *VIEWS[2])
    open_page(browser, path)
    assert browser.execute_script("return document.documentElement.scrollHeight") < 11_000
    assert browser.execute_script(CUT_OFF) == [0, []]


def test_other_layers_of_groups_can_be_chosen(browser, tmp_path):
    rng = np.random.default_rng(0)
    centers = 2 * np.array([[0, 0], [0, 1.0], [10, 0], [10, 1.3], [5, 9], [5, 10.0]])
    X = np.vstack([center + 0.25 * rng.standard_normal((40, 2)) for center in centers])
    model = GraspelClustering("auto", random_state=0).fit(X)
    assert len(model.layers_) > 1
    path = tmp_path / "layers.html"
    write_report(model, path, X=X, features=["a", "b"])
    set_view(browser, *VIEWS[0])
    open_page(browser, path)
    numbers = [layer.n_clusters for layer in model.layers_]
    choices = browser.find_elements("css selector", "#layer option")
    assert [int(choice.text.split()[0]) for choice in choices] == sorted(numbers)
    for choice, layer in zip(choices, model.layers_, strict=True):
        choice.click()
        assert ask(browser, "page.points.clusters.names.length") == layer.n_clusters
        assert len(browser.find_elements("css selector", "#legend .key")) == layer.n_clusters
        assert len(browser.find_elements("css selector", "#groups article")) == layer.n_clusters
        assert ask(browser, "[...page.points.clusters.classes]") == layer.labels.tolist()
