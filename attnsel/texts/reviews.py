"""Film reviews from a grammar of ours, with statistics known in advance.

A review is an opening, some sentences of opinion among neutral talk, and a closing.
Only the word of opinion in a sentence depends on the label. Class k of K sits at t_k,
evenly spaced from -1 to 1. Half of the occurrences of a word of strength s are shared
by the two classes on either side of s, the nearer taking more; the other half is
spread in proportion to 1 + s t_k. With K = 2 both come to the same, and the difference
P(1|s) - P(0|s) of a word that is never negated is exactly its strength. Now and then
a word of the opposite class stands behind "not": what it says then is lost on a model
that does not see order, as in real reviews.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from itertools import accumulate

import numpy as np

NEGATION = 0.04  # share of the opinions that are said as "not" and the opposite
OPINIONS = range(2, 9)  # numbers of opinions in a review, equally likely
TALK = range(5)  # numbers of neutral sentences, equally likely
ABSOLUTE = 0.35  # share of the opinions that use a word of one side only
NEGATED_UP_TO = 0.65  # stronger words are never negated

# Each line holds the words of one strength, frequent ones first: positive, negative.
_LEXICON = {
    1.0: (
        """superb brilliant wonderful outstanding stunning terrific magnificent
        exceptional masterful unforgettable flawless splendid phenomenal marvelous
        breathtaking sublime riveting dazzling exquisite glorious spectacular
        mesmerizing enchanting impeccable astonishing triumphant luminous radiant""",
        """dreadful atrocious pathetic unwatchable painful abysmal idiotic worthless
        laughable appalling lousy hideous insulting unbearable amateurish wretched
        disastrous horrendous incompetent excruciating ghastly shoddy deplorable
        insufferable abominable disgraceful putrid vile""",
    ),
    0.9: (
        """excellent perfect beautiful fantastic gripping moving delightful thrilling
        captivating heartfelt""",
        """terrible awful boring horrible stupid lame dull ridiculous tedious
        pointless""",
    ),
    0.8: (
        """amazing powerful memorable hilarious compelling touching elegant rich
        inspired graceful""",
        """poor bland annoying cheap clumsy shallow lifeless tiresome muddled
        feeble""",
    ),
    0.7: (
        """clever charming lovely engaging vivid tender sharp inventive rewarding
        lively""",
        """wooden lazy forced confused dreary hollow contrived sloppy stale
        cliched""",
    ),
    0.6: (
        """funny witty warm fresh sincere polished subtle absorbing energetic
        nuanced""",
        """weak predictable silly flat messy noisy thin crude stilted murky""",
    ),
    0.5: (
        """smart original exciting honest believable stylish bold thoughtful
        satisfying confident""",
        """slow dated awkward repetitive careless implausible grim formulaic bloated
        disjointed""",
    ),
    0.4: (
        """entertaining enjoyable solid likable sweet effective genuine colorful
        intimate balanced""",
        """obvious uneven cold rushed vague generic distant overlong harsh
        sluggish""",
    ),
    0.3: (
        """good nice pleasant intriguing playful gentle focused sensible brisk
        crisp""",
        """bad strange loud empty heavy tired stiff busy plain blunt""",
    ),
    0.2: (
        "decent fine watchable light curious careful relaxed bright natural tidy",
        "odd long dark simple sad familiar rough chaotic dry abrupt",
    ),
    0.1: (
        """ambitious modern quiet unusual faithful earnest mild steady direct
        compact""",
        """ordinary conventional complicated broad dense moody talky grey literal
        factual""",
    ),
}

_OPINION = """
the {part} was {degree}{opinion}.
I found the {part} {degree}{opinion}.
for me the {part} felt {degree}{opinion} from start to end.
to my mind the {part} is {degree}{opinion}, whatever {person} says.
the {part} by the {maker} seemed {degree}{opinion} to me.
{person} called the {part} {degree}{opinion}, and I agree.
everything about the {part} is {degree}{opinion}!
what we have here is {opinion} {part}, as I see it.
my notes on the {part} say {degree}{opinion}, nothing else.
{degree}{opinion}: that is how I would describe the {part}.
as for the {part}, it looked {degree}{opinion}.
then the {part} became {degree}{opinion} in the {when} act.
"""
_OPENING = """
I saw this {genre} {time} with {person}.
this {genre} was shown at the {place} {time}.
{person} gave me the disc, and we watched it {time}.
we rented this {genre} because {person} asked for it.
the story of this {genre} begins at a {scene}.
a {job} and a {job} meet at a {scene}; that is where this {genre} starts.
I had read the book before I went to see it.
it was playing on television {time}, so I stayed up.
here are my thoughts on a {genre} made in {year}.
when {person} told me about this {genre}, I looked it up.
"""
_TALK = """
the {maker} also worked on a {genre} in {year}.
it takes place near a {scene} in {town}.
a {job} walks into a {scene} and asks for {thing}.
my seat was next to {person}, who was eating {food}.
the {job} carries {thing} through most of the {when} hour.
they filmed it in {town}, if I remember it right.
it runs for about {number} minutes, credits included.
there is a scene with {thing} and {animal} near the end.
{person} asked me who played the {job}.
the {job} is looking for {thing}, and so is the {job}.
I went for {food} during the break.
there are {number} people in the cast, by my count.
the {when} part is told by the {job}.
we sat in row {number} of the {place}.
the {genre} is based on a {source} from {year}.
it begins in {season} and ends in {season}.
some of it is in {language}, with subtitles.
it was {weather} outside (so the {place} was half full).
on the way home we talked about {thing}.
the disc has a {source} on it, too.
who is the {job} writing to, and where is {thing}?
{animal} runs across the {scene}; nobody turns round.
"""
_CLOSING = """
that is all I have to say about it.
you can see it at the {place} until {season}.
it is out on disc now.
I gave the disc back to {person}.
{person} may think of it in another way.
the credits say it was made in {year}.
and then we went home.
make of that what you will...
the {maker} is working on another one, I hear.
now I am going to read the {source}.
"""
_SLOTS = {
    "part": """acting story film plot script music ending dialogue cast movie direction
        camera editing pace score lighting humor opening sound lead romance finale
        chemistry costume design suspense action animation setting tone narration
        villain choreography premise dubbing structure photography makeup backdrop
        subplot""",
    "degree": "_ _ _ _ very really quite rather so truly simply somewhat",
    "maker": """director writer composer producer editor cameraman crew studio
        designer screenwriter""",
    "genre": """film movie picture drama comedy thriller western mystery musical
        documentary remake sequel cartoon biopic noir fable""",
    "person": """my_wife my_brother my_friend he she my_mother my_son a_friend
        my_sister my_husband my_daughter my_father my_neighbor a_colleague our_teacher
        the_usher my_cousin my_uncle my_aunt my_roommate Anna Peter""",
    "time": """last_night yesterday last_week on_Sunday on_Friday this_morning
        last_month on_a_plane on_Saturday at_noon after_work at_midnight
        on_my_birthday last_summer""",
    "place": """cinema theater club festival library museum campus multiplex school
        hall drive-in gallery""",
    "when": "first second third middle last",
    "scene": """house hotel station beach farm harbor hospital market church bridge
        castle bar garden prison bakery motel forest village desert kitchen lighthouse
        cellar factory cabin""",
    "job": """man woman doctor girl detective boy soldier teacher stranger nurse lawyer
        sailor farmer king painter singer widow driver thief reporter pilot priest cook
        waiter judge student dancer clerk""",
    "thing": """the_money a_letter the_car a_map his_name the_key a_gun the_diamond
        a_suitcase her_sister the_painting a_photograph his_father a_ring the_ticket
        the_treasure a_violin the_telephone a_diary the_crown a_lantern a_passport""",
    "food": """popcorn ice_cream coffee chocolate a_sandwich peanuts tea noodles
        an_apple pretzels soup""",
    "animal": """a_dog a_cat a_horse the_bird a_wolf the_monkey a_goat the_parrot
        an_owl""",
    "town": """London Paris Boston Chicago Rome Berlin Texas Tokyo Dublin Madrid Vienna
        Montreal Lisbon Sydney Prague Naples""",
    "year": "1999 2004 1987 1975 2011 1968 1993 1954 2016 1942 1931 2008",
    "number": "90 100 two three 120 four five 80 ten seven 110 twelve eight twenty",
    "source": """novel book play poem diary memoir story comic interview legend song
        trailer""",
    "season": "winter summer spring autumn December July",
    "language": "French Italian German Spanish Japanese Swedish Polish Hindi",
    "weather": "raining snowing hot windy foggy cloudy",
}
_SLOT = re.compile(r"\{(\w+)\}")


def _lexicon() -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the words of opinion, their strengths and their base weights, (W,) each.

    Positive and negative words come in pairs of equal weight and opposite strength,
    so the classes weigh the same. Within a line the strength falls a little.
    """
    words, strength, weight = [], [], []
    for band, sides in _LEXICON.items():
        for sign, line in zip((1, -1), sides, strict=True):
            found = line.split()
            zipf = 1 / (np.arange(len(found)) + 3)
            share = ABSOLUTE if band == 1 else (1 - ABSOLUTE) / (len(_LEXICON) - 1)
            drop = (band < 1) * ((np.arange(len(found)) + 0.5) / len(found) - 0.5)
            words += found
            strength.append(sign * (band - 0.1 * drop))
            weight.append(share * zipf / zipf.sum())
    return words, np.concatenate(strength), np.concatenate(weight)


@cache
def _rates(classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the probability (K, W) of each word in a plain and a negated opinion."""
    _, strength, weight = _lexicon()
    position = np.linspace(-1, 1, classes)[:, None]
    near = 1 - np.abs(position - strength) * (classes - 1) / 2
    plain = weight * (np.maximum(near, 0) + (1 + position * strength) / classes) / 2
    negated = plain[::-1] * (np.abs(strength) < NEGATED_UP_TO)
    return (
        plain / plain.sum(axis=1, keepdims=True),
        negated / negated.sum(axis=1, keepdims=True),
    )


def expected_counts(classes: int = 2) -> dict[str, np.ndarray]:
    """Return how often each word of opinion is expected in one review of each class.

    With c = expected_counts()[word], its average signed frequency over balanced
    reviews is (c[1] - c[0]) / 2 and its posterior difference
    P(1|s) - P(0|s) = (c[1] - c[0]) / (c[1] + c[0]). Other tokens tell nothing of
    the label.

    For K = `classes`, at least 2, each word has a float64 array (K,).
    """
    plain, negated = _rates(classes)
    rate = (1 - NEGATION) * plain + NEGATION * negated
    counts = rate * (sum(OPINIONS) / len(OPINIONS))
    return dict(zip(_lexicon()[0], counts.T, strict=True))


class _Draws:
    """Choices from lists, read off one stream of uniform numbers.

    Only `Generator.random` is asked of numpy, so that a seed gives the same reviews
    under any version.
    """

    def __init__(self, *seed: int) -> None:
        self._uniform = self._stream(np.random.Generator(np.random.PCG64(seed)))
        self._zipf: dict[int, list[float]] = {}

    @staticmethod
    def _stream(rng: np.random.Generator) -> Iterator[float]:
        while True:
            yield from rng.random(4096).tolist()

    def uniform(self) -> float:
        return next(self._uniform)

    def among(self, options: list[str]) -> str:
        """Choose by Zipf's law: option i with a weight of 1/(i + 3)."""
        n = len(options)
        if n not in self._zipf:
            self._zipf[n] = list(accumulate(1 / (i + 3) for i in range(n)))
        return options[self.weighted(self._zipf[n])]

    def weighted(self, cumulated: list[float]) -> int:
        return bisect_right(cumulated, self.uniform() * cumulated[-1])

    def number(self, options: range) -> int:
        return options[int(self.uniform() * len(options))]


def generate_reviews(
    n: int, *, classes: int = 2, seed: int = 0, stream: int = 0
) -> tuple[list[str], list[int]]:
    """Write n film reviews, balanced by class, and return them with their labels.

    The reviews of a seed are the same on every machine. The label of review i is
    i mod K, from 0 for the worst to K-1 for the best.

    Args:
        n: number of reviews.
        classes: K, at least 2.
        seed: of the draw, at least 0.
        stream: another stream gives an independent draw of the same seed.

    Returns:
        n texts of about 25 to 170 tokens, n labels in 0..K-1.
    """
    draws = _Draws(seed, stream, classes)
    words = _lexicon()[0]
    plain, negated = ([list(accumulate(row)) for row in p] for p in _rates(classes))
    slots = {
        name: [filler.replace("_", " ").strip() for filler in line.split()]
        for name, line in _SLOTS.items()
    }
    slots["degree"] = [degree + " " if degree else "" for degree in slots["degree"]]
    opening, opinion, talk, closing = (
        text.strip().split("\n") for text in (_OPENING, _OPINION, _TALK, _CLOSING)
    )

    def write(template: str, label: int) -> str:
        def fill(slot: re.Match[str]) -> str:
            if slot[1] != "opinion":
                return draws.among(slots[slot[1]])
            if draws.uniform() < NEGATION:
                return "not " + words[draws.weighted(negated[label])]
            return words[draws.weighted(plain[label])]

        sentence = _SLOT.sub(fill, template)
        return sentence[0].upper() + sentence[1:]

    texts = []
    labels = [i % classes for i in range(n)]
    for label in labels:
        body = [opinion] * draws.number(OPINIONS) + [talk] * draws.number(TALK)
        body.sort(key=lambda _: draws.uniform())
        parts = [opening, *body, closing]
        texts.append(" ".join(write(draws.among(part), label) for part in parts))
    return texts, labels
