"""What makes a history acceptable to a provider that refused it: each mend changes as little as it
can, and no word of a user is lost.
"""
