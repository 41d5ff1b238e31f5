"""The files of the page: markup, style sheet, and scripts as modules."""
