"""Which strategy with which settings fits given sessions: a search, its honest gain, and
settings to paste.
"""
