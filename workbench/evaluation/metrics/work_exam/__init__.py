"""The exam of the work: written questions on goal, state, decisions, findings, rules and next step.

Start with `question.py` (what an exam is), then `document.py` (how it is kept beside its session).
"""
