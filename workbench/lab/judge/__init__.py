"""Measurements that ask a model as judge: exam, behaviour, and where their noise comes from."""
