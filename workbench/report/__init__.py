"""From the tables of a run to pages that people read."""

from workbench.report.render import render as render
