"""From the tables of a run to pages that people read."""

from workbench.report.page.rendering import render as render
