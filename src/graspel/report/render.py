"""Rendering: the contents as one HTML file.

Everything that comes from the user (labels, names, texts, file names, titles) is text: it is escaped in HTML, and the
data blocks contain no ``<``. In addition the content security policy of the page forbids all scripts except one, which
it knows by its checksum, all styles except the page's own, and all requests to the network.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from string import Template

from graspel.report.bundle import bundle_scripts, read_file
from graspel.report.contents import Contents
from graspel.report.verdicts import Verdict

__all__ = ["encode_json", "escape_text", "render_page"]


def render_page(contents: Contents) -> str:
    """The whole file as text."""
    script, style = bundle_scripts(), read_file("page.css")
    allowed = f"script-src {_checksum(script)}; style-src {_checksum(style)}; img-src data:"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    return Template(read_file("page.html")).substitute(
        policy=policy,
        title=escape_text(contents.title),
        style=style,
        summary=" ".join(f"<p>{escape_text(sentence)}</p>" for sentence in contents.summary),
        verdicts="".join(map(_render_verdict, contents.verdicts)),
        certificate=_render_rows(contents.certificate.sentences()),
        map=escape_text(contents.map),
        drawn=escape_text(contents.drawn),
        eigengap=escape_text(contents.eigengap),
        convergence=escape_text(contents.convergence),
        settings=_render_rows(contents.settings),
        code=escape_text(contents.code),
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


def _render_verdict(verdict: Verdict) -> str:
    advice = f"<p>What to do: {escape_text(verdict.advice)}</p>" if verdict.advice else ""
    return (
        f'<li><span class="rating {verdict.rating}">{verdict.rating}</span><div><p><strong>'
        f"{escape_text(verdict.question)}</strong> {escape_text(verdict.answer)}</p>{advice}</div></li>"
    )


def _render_rows(rows: list[tuple[str, str]] | list[tuple[str, str, str]]) -> str:
    cells = ("".join(f"<td>{escape_text(cell)}</td>" for cell in row[1:]) for row in rows)
    return "".join(
        f'<tr><th scope="row">{escape_text(row[0])}</th>{cell}</tr>' for row, cell in zip(rows, cells, strict=True)
    )


def _checksum(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
