"""Settings of the chapter *TITLE*."""

BOOK = {"N": 400, "SAMPLE": 100, "SEED": 0}
RANGES = {
    "N % 2 == 0 and N >= 400": "because labels and signs are balanced",
    "1 <= SAMPLE <= N": "",
}
TRIED = [
    {"SAMPLE": 1},
    {"SAMPLE": 400},
    {"N": 1_000, "SEED": 7},
]
