"""The page: the contents as one HTML file.

Everything that comes from the user (labels, file names, titles) is text: it is escaped in HTML, and the data block
contains no ``<``. In addition the content security policy of the page forbids all scripts except three, which it knows
by their checksums, and all requests to the network.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from string import Template

from graspel.plot.palette import COLORS
from graspel.report.contents import Contents
from graspel.report.summary import summarize

__all__ = ["encode_json", "escape_text", "render_page"]


def render_page(contents: Contents) -> str:
    """The whole file as text."""
    scripts = {"preview": _read_file("preview.js"), "plotly": _plotly_script(), "script": _read_file("page.js")}
    scripts = {name: _normalize_script(script) for name, script in scripts.items()}
    # plotly compiles functions from text, which needs 'unsafe-eval'.
    allowed = " ".join(["script-src", *map(_checksum, scripts.values()), "'unsafe-eval'"])
    policy = f"default-src 'none'; {allowed}; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
    return Template(_read_file("page.html")).substitute(
        policy=policy,
        title=escape_text(contents.title),
        style=_read_file("page.css"),
        summary="".join(f"<p>{escape_text(sentence)}</p>" for sentence in summarize(contents.certificate)),
        certificate=_render_rows(contents.certificate.sentences()),
        drawn=escape_text(contents.drawn),
        eigengap=escape_text(contents.eigengap),
        settings=_render_rows(contents.settings),
        code=escape_text(contents.code),
        data=encode_json({**contents.data, "colors": COLORS}),
        **scripts,
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


def _render_rows(rows: list[tuple[str, str]] | list[tuple[str, str, str]]) -> str:
    cells = ("".join(f"<td>{escape_text(cell)}</td>" for cell in row[1:]) for row in rows)
    return "".join(f"<tr><th>{escape_text(row[0])}</th>{cell}</tr>" for row, cell in zip(rows, cells, strict=True))


def _read_file(name: str) -> str:
    return files("graspel.report").joinpath(name).read_text(encoding="utf-8")


def _plotly_script() -> str:
    from plotly.offline import get_plotlyjs

    script: str = get_plotlyjs()
    return script


def _normalize_script(script: str) -> str:
    """A script exactly as the browser will read it, so that its checksum is right."""
    return "\n" + script.replace("\r\n", "\n").replace("</script", "<\\/script").strip() + "\n"


def _checksum(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
