"""Measurements that ask a model as judge: exam, behaviour, surprisal, and where their noise comes from."""
