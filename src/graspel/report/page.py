"""The page: contents as one HTML file.

All that comes from the user (labels, file names, titles) is text: escaped where it stands in HTML, and inside the data
block without any ``<``. Beside that the page forbids, by its content security policy, every script but the three that
are known by their checksum, and every request to anywhere.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from string import Template

from graspel.plot.palette import COLOURS
from graspel.report.contents import Contents
from graspel.report.words import plain_words

__all__ = ["embedded_json", "page", "text"]


def page(contents: Contents) -> str:
    """The whole file."""
    scripts = {"sketch": _part("sketch.js"), "plotly": _plotly(), "script": _part("page.js")}
    scripts = {name: _script_text(script) for name, script in scripts.items()}
    allowed = " ".join(["script-src", *map(_checksum, scripts.values()), "'unsafe-eval'"])  # plotly builds functions
    policy = f"default-src 'none'; {allowed}; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
    return Template(_part("page.html")).substitute(
        policy=policy,
        title=text(contents.title),
        style=_part("page.css"),
        words="".join(f"<p>{text(sentence)}</p>" for sentence in plain_words(contents.certificate)),
        certificate=_rows(contents.certificate.sentences()),
        drawn=text(contents.drawn),
        reproducing=_rows(contents.reproducing),
        code=text(contents.code),
        data=embedded_json({**contents.data, "colors": COLOURS}),
        **scripts,
    )


def text(given: object) -> str:
    r"""Text of anyone, fit to stand in HTML.

    Examples
    --------
    >>> text("<b onclick='x'>\x00")
    '&lt;b onclick=&#x27;x&#x27;&gt;\ufffd'
    """
    # Half a surrogate pair (from a file name that is no UTF-8) cannot be written, and NUL may not stand in HTML.
    whole = str(given).encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return html.escape(whole)


def embedded_json(value: object) -> str:
    r"""JSON that cannot end the script element it stands in, nor open a comment there.

    Examples
    --------
    >>> embedded_json({"label": "</script><!--"})
    '{"label":"\\u003c/script\\u003e\\u003c!--"}'
    """
    encoded = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return encoded.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _rows(rows: list[tuple[str, str]] | list[tuple[str, str, str]]) -> str:
    cells = ("".join(f"<td>{text(cell)}</td>" for cell in row[1:]) for row in rows)
    return "".join(f"<tr><th>{text(row[0])}</th>{cell}</tr>" for row, cell in zip(rows, cells, strict=True))


def _part(name: str) -> str:
    return files("graspel.report").joinpath(name).read_text(encoding="utf-8")


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    script: str = get_plotlyjs()
    return script


def _script_text(script: str) -> str:
    """A script as the browser will read it: its checksum is taken of this."""
    return "\n" + script.replace("\r\n", "\n").replace("</script", "<\\/script").strip() + "\n"


def _checksum(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
