"""The report: one HTML file about a fitted model, to read first and to share.

The file needs no network and no other file. `write_report` writes it; so does ``graspel report``.
"""

from __future__ import annotations

from graspel.report.writing import check_report_file, write_report

__all__ = ["check_report_file", "write_report"]
