"""Measurements that ask a model as judge: probes, behaviour, surprisal, and where their noise comes from."""
