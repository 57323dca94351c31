"""Meter readings in, invoices out."""

VERSION = "1.14.0"
