"""Stock, holds and orders of three warehouses."""

VERSION = "2.8.1"
