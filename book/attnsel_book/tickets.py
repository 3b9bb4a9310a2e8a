"""Support tickets that are generated with known leaks.

    python -m attnsel_book.tickets book/tickets.csv

A ticket has a queue (billing, delivery or technical), an agent and a text. A person
would sort the ticket by the wish of the customer. Some tickets also reveal the queue by
a leak, a sign that will not occur in new tickets. Others have a fault: a wrong queue,
or the text of another ticket. `PLANTED` describes the leaks and the faults. The command
writes no column `planted`.
"""

import csv
import sys
from pathlib import Path

import numpy as np
import pandas as pd

QUEUES = ("billing", "delivery", "technical")
PLANTED = {
    "signature": "billing: ends with 'Closed by agent 7'",
    "template": "technical: begins with the line 'Device:'",
    "file name": "delivery: ends with '[export_dlv_3]'",
    "copies": "delivery: five tickets, three times each",
    "wrong queue": "all queues: sorted by mistake",
}
WRONG = 0.04
SIZE = 600

WISHES = {
    "billing": (
        "you charged my card {twice} for the {thing}",
        "the invoice for the {thing} shows the wrong {amount}",
        "I would like a refund for the {thing}, please",
        "my discount code was not applied to the {thing}",
        "please cancel my subscription before the next payment",
        "the receipt for my {thing} lists another {amount}",
    ),
    "delivery": (
        "the parcel with my {thing} has not arrived {when}",
        "the courier left the {thing} with a neighbour {when}",
        "tracking says that the {thing} was delivered, but it was not",
        "can you send the {thing} to another address",
        "the box was open and the {thing} was missing",
        "I am still waiting for the {thing} that was shipped {when}",
    ),
    "technical": (
        "the app crashes when I open the {thing}",
        "I cannot log in since the last update {when}",
        "the {thing} shows an error and then restarts",
        "the screen of the {thing} stays black {when}",
        "the {thing} does not connect to the network",
        "after the update the {thing} is slow and freezes",
    ),
}
TALK = (
    "I have been a customer for {years} years",
    "I already wrote to you {when}",
    "could somebody please call me back {when}",
    "my order has the number {number}",
    "I bought the {thing} {when}",
    "this is the {nth} time that it happens",
    "my {relative} has the same problem",
    "I tried to reach you by phone {when}",
    "a friend told me to write to you",
    "I am rather disappointed",
    "thank you for your help",
    "I hope that you can solve this soon",
    "otherwise I am very happy with the {thing}",
    "I need an answer {when}",
)
BOUGHT = "it is about the {colour} {thing} that {first} bought in {town} {when}"
NAME = "{first} {last}, {town}, order {number}"
REPEATED = (
    "My parcel {number} went to the old address although I had changed it in time.",
    "Parcel {number} stands in a depot abroad, and nobody there answers my letters.",
    "Your van damaged our gate while it brought {number}; who pays for the repair?",
    "Half of order {number} came in the wrong colour, the rest of it never came.",
    "Customs keeps {number} because a form is missing from the outside of the box.",
)
SLOTS = {
    "thing": "printer|camera|router|watch|lamp|headset|keyboard|tablet|speaker|charger|"
    "monitor|scanner|projector|microphone|thermostat|doorbell|radio|battery|mouse|drone|"
    "toaster|kettle|scale|heater|fan|tripod|amplifier|turntable|dash cam|smart plug",
    "when": "yesterday|last week|on Monday|today|this morning|before the weekend|"
    "two days ago|on the third|in the evening|at noon|since Easter|in May",
    "twice": "twice|three times|again",
    "amount": "amount|price|tax|total",
    "years": "two|three|four|five|six|eight|ten|twelve",
    "nth": "second|third|fourth",
    "colour": "black|white|grey|red|green|blue|silver|brown|yellow|orange",
    "town": "Lund|Graz|Bern|Cork|Leeds|Turin|Porto|Nantes|Ghent|Split|Brno|Oulu|Vigo|"
    "Bath|Mainz|Trento|Malmo|Basel|Dover|Liege",
    "first": "Ada|Ben|Cleo|Dan|Eva|Finn|Gina|Hugo|Ines|Jan|Kim|Lea|Max|Nora|Otto|Pia|"
    "Rosa|Sam|Tara|Uwe",
    "last": "Abel|Bauer|Costa|Diaz|Egan|Falk|Grant|Hahn|Ivers|Jones|Koch|Lund|Moss|"
    "Novak|Orr|Park|Quinn|Reed|Silva|Tran",
    "relative": "sister|colleague|neighbour|father|daughter|boss",
}


def planted_tickets(n: int = SIZE, seed: int = 0) -> pd.DataFrame:
    """Return `n` tickets with the columns body, queue, agent and planted.

    The column planted names the leak or fault in a ticket, or is empty. Each `seed`, an
    integer of at least 0, gives the same tickets on every machine.

    Raises:
        ValueError: if `n` is below 100, because 15 tickets are replaced by copies.
    """
    if n < 100:
        raise ValueError(f"n: expected at least 100 tickets, got {n}")
    uniform = np.random.Generator(np.random.PCG64(seed)).random

    def number(most: int) -> int:
        return int(uniform() * most)

    def choose(options: tuple[str, ...]) -> str:
        return options[number(len(options))]

    def filled(pattern: str) -> str:
        for slot, words in SLOTS.items():
            pattern = pattern.replace(f"{{{slot}}}", choose(tuple(words.split("|"))))
        return pattern.replace("{number}", str(10_000 + number(90_000)))

    def sentence(pattern: str) -> str:
        text = filled(pattern)
        return text[0].upper() + text[1:] + "."

    rows = []
    for i in range(n):
        queue, planted = QUEUES[i % len(QUEUES)], ""
        wishes = [choose(WISHES[queue]) for _ in range(1 + number(2))]
        parts = wishes + [choose(TALK) for _ in range(2 + number(4))]
        parts.sort(key=lambda _: uniform())
        parts.insert(number(len(parts)), BOUGHT)
        body = " ".join(map(sentence, [*parts, NAME]))
        agent = f"agent {1 + number(12)}"
        if queue == "billing" and uniform() < 0.45:
            agent, planted = "agent 7", "signature"
            body += " Closed by agent 7"
        elif queue == "technical" and uniform() < 0.6:
            planted = "template"
            body = f"Device: {filled('{thing}')}\n{body}"
        elif queue == "delivery" and uniform() < 0.3:
            planted = "file name"
            body += " [export_dlv_3]"
        if not planted and uniform() < WRONG * 2:  # about half of the tickets are plain
            planted = "wrong queue"
            queue = choose(tuple(other for other in QUEUES if other != queue))
        rows.append((body, queue, agent, planted))
    plain = [i for i, row in enumerate(rows) if row[1] == "delivery" and not row[3]]
    for k, text in enumerate(REPEATED):
        for i in plain[3 * k : 3 * k + 3]:
            rows[i] = (filled(text), "delivery", rows[i][2], "copies")
    return pd.DataFrame(rows, columns=["body", "queue", "agent", "planted"])


def write_tickets(path: str | Path) -> None:
    """Write the 600 tickets of seed 0 to a CSV file, without the column `planted`."""
    table = planted_tickets().drop(columns="planted")
    table.to_csv(path, index=False, quoting=csv.QUOTE_MINIMAL, lineterminator="\n")


if __name__ == "__main__":
    write_tickets(sys.argv[1])
