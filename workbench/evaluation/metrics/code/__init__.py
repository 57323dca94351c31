"""Code needs: lines that an agent edits or quotes later, and how much of them a context has."""
