"""Rendering: the contents as one HTML file.

Everything that comes from the user (labels, names, texts, file names, titles) is text: it is escaped in HTML, and the
data blocks contain no ``<``. In addition the content security policy of the page forbids all scripts except one, which
it knows by its checksum, all styles except the page's own, and all requests to the network.

The script is made of the modules of the folder `page`. Each is a plain ES module that tests import as it is. A single
file cannot import, so here the modules follow each other inside one function, each after those it imports, and without
their `import` lines and `export` words. So no two modules may use one name at their top (a test checks it).
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable
from importlib.resources import files
from string import Template

from graspel.findings import Table
from graspel.report.contents import Contents

MODULES = (
    "unpack",
    "words",
    "camera",
    "labels",
    "network",
    "theme",
    "dom",
    "density",
    "columns",
    "coloring",
    "edges",
    "webgl",
    "raster",
    "scatter",
    "points",
    "thumbnails",
    "charts",
    "panel",
    "groups",
    "sections",
    "made",
    "main",
)
IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)


def render_page(contents: Contents) -> str:
    """The whole file as text."""
    script, style = bundle_scripts(), read_file("page.css")
    allowed = f"script-src {_checksum(script)}; style-src {_checksum(style)}; img-src data:"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    return Template(read_file("page.html")).substitute(
        policy=policy,
        title=escape_text(contents.title),
        style=style,
        summary=_render_summary(contents.summary, contents.claims),
        verdicts=_render_verdicts(contents.verdicts),
        certificate=_render_rows(contents.certificate.sentences()),
        settings=_render_rows(contents.settings),
        **{name: escape_text(text) for name, text in contents.words.items()},
        first=encode_json(contents.first),
        rest=encode_json(contents.rest),
        pictures=encode_json(contents.pictures),
        script=script,
    )


def escape_text(given: object) -> str:
    r"""Any text, escaped for HTML.

    Examples
    --------
    >>> escape_text("<b onclick='x'>\x00")
    '&lt;b onclick=&#x27;x&#x27;&gt;\ufffd'
    """
    # Half a surrogate pair (from a file name that is not UTF-8) cannot be written, and HTML does not allow NUL.
    valid = str(given).encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return html.escape(valid)


def encode_json(value: object) -> str:
    r"""JSON that can neither end the script element around it nor open a comment there.

    Examples
    --------
    >>> encode_json({"label": "</script><!--"})
    '{"label":"\\u003c/script\\u003e\\u003c!--"}'
    """
    encoded = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return encoded.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _render_summary(sentences: list[str], claims: list[tuple[str, str]]) -> str:
    """The sentences, in which the words of a claim link to the points behind it."""
    text = " ".join(f"<p>{escape_text(sentence)}</p>" for sentence in sentences)
    for number, (words, section) in enumerate(claims):
        said = escape_text(words)
        text = text.replace(said, f'<a href="#{section}" data-claim="{number}">{said}</a>', 1)
    return text


def _render_verdicts(verdicts: Table) -> str:
    items = []
    for row in verdicts.rows():
        advice = f"<p>What to do: {escape_text(row['advice'])}</p>" if row["advice"] else ""
        items.append(
            f'<li><span class="rating {row["rating"]}">{row["rating"]}</span><div><p><strong>'
            f"{escape_text(row['question'])}</strong> {escape_text(row['answer'])}</p>{advice}</div></li>"
        )
    return "".join(items)


def _render_rows(rows: Iterable[tuple[str, ...]]) -> str:
    return "".join(
        f'<tr><th scope="row">{escape_text(first)}</th>{"".join(f"<td>{escape_text(cell)}</td>" for cell in rest)}</tr>'
        for first, *rest in rows
    )


def _checksum(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def read_file(name: str) -> str:
    """A file of the page."""
    return files("graspel.report.page").joinpath(name).read_text(encoding="utf-8").replace("\r\n", "\n")


def bundle_scripts() -> str:
    """All modules as one script, exactly as the browser will read it, so that its checksum is right."""
    sources = (IMPORT.sub("", read_file(f"{name}.js")) for name in MODULES)
    plain = (re.sub(r"^export ", "", source, flags=re.MULTILINE) for source in sources)
    script = "\n".join(["(() => {", '"use strict";', *plain, "start();", "})();"])
    return "\n" + script.replace("</script", "<\\/script").strip() + "\n"
