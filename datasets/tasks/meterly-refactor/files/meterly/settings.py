"""All numbers that somebody may want to change."""

PORT = 8077
GATEWAY_TOKEN_FILE = "/etc/meterly/token"
MAX_RECORDS = 500
MAX_GAP_HOURS = 6
VAT = {"electricity": 0.20, "heat": 0.10}
CREDITOR = "MTL-0093"
HOUSES = {"A": "Lindengasse 4", "B": "Lindengasse 6", "C": "Am Kai 11", "D": "Am Kai 13"}
