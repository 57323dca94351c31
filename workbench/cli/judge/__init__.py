"""`workbench judge`: measurements that ask a model as judge."""

from __future__ import annotations

import typer

from workbench.cli.judge.behaviour import behaviour
from workbench.cli.judge.exam import exam

app = typer.Typer(help="Measure with models as judges.")
app.command("exam", short_help="Let a model sit the exam from each strategy's context.")(exam)
app.command("behaviour", short_help="Test whether a model obeys and acts alike with each context.")(behaviour)
