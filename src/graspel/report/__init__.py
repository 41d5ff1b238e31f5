"""The report: one HTML file that says what was learned, to open first and to pass on.

It needs no network and no other file: plotly is inside. ``model.report(path)`` and ``graspel report`` write it.
"""

from __future__ import annotations

from graspel.report.writing import check_report_file, write_report

__all__ = ["check_report_file", "write_report"]
