"""Settings of the chapter *A report on your own labelled texts*."""

BOOK = {
    "DATA": "tickets.csv",
    "TEXT": "body",
    "LABEL": "queue",
    "GROUPS": None,
    "LIMIT": None,
    "RATE": 0.05,
}
RANGES = {
    "LIMIT is None or LIMIT >= 20": "or there is nothing to hold out",
    "0 < RATE <= 0.99": "because it is a share of the findings",
}
# A file of your own, in the folder in which the chapter runs.
MINE = {"DATA": "mine.csv", "LABEL": "verdict"}
TRIED = [
    {"LIMIT": 20},
    MINE | {"GROUPS": "film", "RATE": 0.95},
    {"DATA": "generated", "TEXT": "text", "LABEL": "label", "RATE": 0.001},
]
