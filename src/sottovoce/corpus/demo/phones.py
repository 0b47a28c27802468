"""A small part of English: phones with formant targets, a pronouncing lexicon, and sentences.

All of it was written for this package. The phones are named as in ARPAbet (``DX`` is the t of
"water"), with ``1`` behind the stressed vowel of a word; formants are in Hz for a vocal tract of
17.5 cm. Names, places and numbers stand in the sentences where a real caller would give them, so a
corpus made from them also has something for an anonymiser of words to find.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

Kind = Literal["vowel", "glide", "nasal", "stop", "fricative", "affricate", "breath"]


@dataclass(frozen=True, slots=True)
class Hiss:
    """The spectrum of turbulence: one broad peak, its frequency and width in Hz."""

    peak: float
    width: float
    level: float


@dataclass(frozen=True, slots=True)
class Phone:
    """Targets of the synthesiser for a phone; a short phone does not reach them."""

    kind: Kind
    milliseconds: float
    formants: tuple[tuple[float, float, float], ...]  # two targets make a diphthong
    voiced: bool = True
    hold: float = 1.0  # how firmly the targets resist those of the neighbours
    loudness: float = 1.0  # of the voice, against a vowel
    hiss: Hiss | None = None


def _vowel(ms: float, *formants: tuple[float, float, float], hold: float = 1.0) -> Phone:
    return Phone("vowel", ms, formants, hold=hold)


def _glide(ms: float, *formants: tuple[float, float, float], loudness: float) -> Phone:
    return Phone("glide", ms, formants, hold=1.2, loudness=loudness)


def _nasal(ms: float, formants: tuple[float, float, float]) -> Phone:
    return Phone("nasal", ms, (formants,), hold=0.8, loudness=0.55)


def _stop(ms: float, f: tuple[float, float, float], hiss: Hiss, *, voiced: bool) -> Phone:
    return Phone("stop", ms, (f,), voiced, hold=0.6, loudness=0.12, hiss=hiss)


def _noisy(
    kind: Kind, ms: float, f: tuple[float, float, float], hiss: Hiss, loudness: float = 0.0
) -> Phone:
    return Phone(kind, ms, (f,), loudness > 0, hold=0.7, loudness=loudness, hiss=hiss)


PHONES: dict[str, Phone] = {
    "IY": _vowel(125, (285, 2280, 3000)),
    "IH": _vowel(95, (400, 1970, 2570)),
    "EH": _vowel(110, (540, 1830, 2490)),
    "AE": _vowel(145, (680, 1720, 2430)),
    "AA": _vowel(145, (740, 1120, 2460)),
    "AO": _vowel(145, (600, 890, 2520)),
    "UH": _vowel(95, (440, 1080, 2260)),
    "UW": _vowel(125, (315, 1000, 2240)),
    "AH": _vowel(105, (630, 1220, 2430)),
    "AX": _vowel(62, (490, 1450, 2480), hold=0.5),
    "ER": _vowel(120, (470, 1290, 1620)),
    "EY": _vowel(150, (500, 1900, 2540), (330, 2230, 2740)),
    "AY": _vowel(175, (740, 1230, 2500), (400, 2000, 2600)),
    "OY": _vowel(185, (550, 880, 2450), (390, 1950, 2550)),
    "AW": _vowel(180, (740, 1330, 2480), (440, 980, 2350)),
    "OW": _vowel(150, (540, 1020, 2380), (380, 830, 2280)),
    "W": _glide(70, (300, 640, 2200), loudness=0.6),
    "Y": _glide(65, (270, 2250, 3000), loudness=0.6),
    "R": _glide(75, (340, 1120, 1480), loudness=0.7),
    "L": _glide(70, (360, 1020, 2720), loudness=0.6),
    "DX": _glide(30, (320, 1700, 2650), loudness=0.25),
    "M": _nasal(75, (270, 1050, 2150)),
    "N": _nasal(70, (270, 1560, 2560)),
    "NG": _nasal(80, (270, 2050, 2600)),
    "P": _stop(85, (280, 900, 2200), Hiss(900, 1800, 0.35), voiced=False),
    "T": _stop(80, (280, 1750, 2650), Hiss(4600, 3000, 0.8), voiced=False),
    "K": _stop(85, (280, 1900, 2400), Hiss(2000, 900, 0.7), voiced=False),
    "B": _stop(75, (250, 900, 2200), Hiss(800, 1600, 0.25), voiced=True),
    "D": _stop(68, (250, 1720, 2650), Hiss(4400, 3000, 0.45), voiced=True),
    "G": _stop(75, (250, 1900, 2400), Hiss(2000, 900, 0.45), voiced=True),
    "F": _noisy("fricative", 95, (320, 1120, 2150), Hiss(7000, 9000, 0.16)),
    "TH": _noisy("fricative", 90, (320, 1400, 2550), Hiss(6500, 7000, 0.14)),
    "S": _noisy("fricative", 105, (320, 1600, 2600), Hiss(6300, 2200, 0.75)),
    "SH": _noisy("fricative", 105, (320, 1850, 2500), Hiss(3100, 1500, 0.8)),
    "V": _noisy("fricative", 60, (300, 1120, 2150), Hiss(7000, 9000, 0.08), 0.4),
    "DH": _noisy("fricative", 48, (300, 1400, 2550), Hiss(6000, 7000, 0.05), 0.45),
    "Z": _noisy("fricative", 80, (300, 1600, 2600), Hiss(6300, 2200, 0.36), 0.35),
    "ZH": _noisy("fricative", 80, (300, 1850, 2500), Hiss(3100, 1500, 0.4), 0.35),
    "CH": _noisy("affricate", 125, (300, 1850, 2500), Hiss(3400, 1700, 0.8)),
    "JH": _noisy("affricate", 100, (280, 1850, 2500), Hiss(3300, 1700, 0.5), 0.2),
    "HH": Phone("breath", 65, ((500, 1450, 2480),), voiced=False, hold=0.02),
}

_LEXICON = """
a AX | an AX N | about AX B AW1 T | account AX K AW1 N T | address AX D R EH1 S | after AE1 F T AX R
again AX G EH1 N | ago AX G OW1 | all AO1 L | and AX N D | another AX N AH1 DH AX R
answer AE1 N S AX R | any EH1 N IY | appointment AX P OY1 N T M AX N T | are AA R | at AE T
back B AE1 K | bank B AE1 NG K | be B IY | because B IH K AO1 Z | been B IH N
before B IH F AO1 R | believe B IH L IY1 V | best B EH1 S T | better B EH1 DX AX R
between B IH T W IY1 N | big B IH1 G | birthday B ER1 TH D EY | black B L AE1 K
blue B L UW1 | book B UH1 K | bread B R EH1 D | brother B R AH1 DH AX R | bus B AH1 S
but B AH T | buy B AY1 | by B AY | call K AO1 L | called K AO1 L D | came K EY1 M | can K AE N
car K AA1 R | change CH EY1 N JH | children CH IH1 L D R AX N | city S IH1 DX IY
close K L OW1 Z | code K OW1 D | coffee K AO1 F IY | cold K OW1 L D | come K AH1 M
could K UH D | daughter D AO1 DX AX R | day D EY1 | did D IH D | dinner D IH1 N AX R
do D UW | doctor D AA1 K T AX R | dog D AO1 G | door D AO1 R | email IY1 M EY L
evening IY1 V N IH NG | every EH1 V R IY | family F AE1 M L IY | father F AA1 DH AX R
find F AY1 N D | first F ER1 S T | for F AO R | forget F AX R G EH1 T | friend F R EH1 N D
from F R AH M | garden G AA1 R D AX N | get G EH1 T | give G IH1 V | go G OW1
good G UH1 D | great G R EY1 T | green G R IY1 N | had HH AE D | happy HH AE1 P IY
has HH AE Z | have HH AE V | he HH IY | hear HH IH1 R | help HH EH1 L P | her HH ER
here HH IH1 R | his HH IH Z | home HH OW1 M | hospital HH AA1 S P IH DX AX L | hot HH AA1 T
house HH AW1 S | how HH AW1 | I AY | idea AY D IY1 AX | if IH F | important IH M P AO1 R T AX N T
in IH N | is IH Z | it IH T | job JH AA1 B | just JH AH1 S T | kitchen K IH1 CH AX N
know N OW1 | last L AE1 S T | late L EY1 T | leave L IY1 V | leaves L IY1 V Z | left L EH1 F T
letter L EH1 DX AX R | like L AY1 K | listen L IH1 S AX N | little L IH1 DX AX L | live L IH1 V
lives L IH1 V Z | long L AO1 NG | looking L UH1 K IH NG | love L AH1 V | lunch L AH1 N CH
made M EY1 D | make M EY1 K | many M EH1 N IY | market M AA1 R K IH T | me M IY
meet M IY1 T | meeting M IY1 DX IH NG | message M EH1 S IH JH | milk M IH1 L K
minutes M IH1 N IH T S | money M AH1 N IY | more M AO1 R | morning M AO1 R N IH NG
mother M AH1 DH AX R | moved M UW1 V D | much M AH1 CH | music M Y UW1 Z IH K | must M AH1 S T
my M AY | name N EY1 M | need N IY1 D | never N EH1 V AX R | new N UW1 | next N EH1 K S T
night N AY1 T | not N AA1 T | now N AW1 | number N AH1 M B AX R | of AX V | office AO1 F IH S
old OW1 L D | on AA N | open OW1 P AX N | or AO R | order AO1 R D AX R | our AW R | out AW1 T
over OW1 V AX R | paper P EY1 P AX R | party P AA1 R DX IY | people P IY1 P AX L
phone F OW1 N | picture P IH1 K CH AX R | plan P L AE1 N | play P L EY1 | please P L IY1 Z
question K W EH1 S CH AX N | rain R EY1 N | read R IY1 D | really R IH1 L IY | red R EH1 D
remember R IH M EH1 M B AX R | right R AY1 T | river R IH1 V AX R | road R OW1 D | room R UW1 M
said S EH1 D | school S K UW1 L | see S IY1 | send S EH1 N D | she SH IY | shop SH AA1 P
should SH UH D | sister S IH1 S T AX R | small S M AO1 L | some S AH M | son S AH1 N
soon S UW1 N | speak S P IY1 K | station S T EY1 SH AX N | still S T IH1 L
street S T R IY1 T | summer S AH1 M AX R | table T EY1 B AX L | take T EY1 K | talk T AO1 K
tea T IY1 | teacher T IY1 CH AX R | tell T EH1 L | than DH AE N | thank TH AE1 NG K
that DH AE T | the DH AX | their DH EH R | them DH EH M | then DH EH1 N | there DH EH R
they DH EY | think TH IH1 NG K | this DH IH S | ticket T IH1 K IH T | time T AY1 M | to T UW
today T AX D EY1 | tomorrow T AX M AA1 R OW | train T R EY1 N | trees T R IY1 Z
understand AX N D AX R S T AE1 N D | until AX N T IH1 L | very V EH1 R IY | visit V IH1 Z IH T
wait W EY1 T | waiting W EY1 DX IH NG | walk W AO1 K | want W AA1 N T
wants W AA1 N T S | warm W AO1 R M | was W AA Z | water W AO1 DX AX R
we W IY | weather W EH1 DH AX R | week W IY1 K
went W EH1 N T | were W ER | what W AH1 T | when W EH1 N | where W EH1 R | which W IH1 CH
while W AY1 L | who HH UW1 | will W IH L | window W IH1 N D OW | winter W IH1 N T AX R
with W IH DH | work W ER1 K | works W ER1 K S | would W UH D | write R AY1 T | year Y IH1 R
years Y IH1 R Z | yesterday Y EH1 S T AX R D EY | you Y UW | young Y AH1 NG | your Y AO R
zero Z IH1 R OW | one W AH1 N | two T UW1 | three TH R IY1 | four F AO1 R | five F AY1 V
six S IH1 K S | seven S EH1 V AX N | eight EY1 T | nine N AY1 N | ten T EH1 N
eleven IH L EH1 V AX N | twelve T W EH1 L V | twenty T W EH1 N T IY | thirty TH ER1 DX IY
forty F AO1 R DX IY | fifty F IH1 F T IY | sixty S IH1 K S T IY | Monday M AH1 N D EY
Tuesday T UW1 Z D EY | Wednesday W EH1 N Z D EY | Thursday TH ER1 Z D EY | Friday F R AY1 D EY
January JH AE1 N Y UW EH R IY | April EY1 P R AX L | May M EY1 | June JH UW1 N
August AO1 G AX S T | October AA K T OW1 B AX R | Anna AE1 N AX | Peter P IY1 DX AX R
Maria M AX R IY1 AX | David D EY1 V IH D | Laura L AO1 R AX | Thomas T AA1 M AX S
Sarah S EH1 R AX | Michael M AY1 K AX L | Julia JH UW1 L Y AX | Daniel D AE1 N Y AX L
Emma EH1 M AX | Martin M AA1 R T AX N | Helen HH EH1 L AX N | Robert R AA1 B AX R T
Nina N IY1 N AX | George JH AO1 R JH | Miller M IH1 L AX R | Baker B EY1 K AX R
Wilson W IH1 L S AX N | Carter K AA1 R T AX R | Morgan M AO1 R G AX N | Cooper K UW1 P AX R
Young Y AH1 NG | Fischer F IH1 SH AX R | Bell B EH1 L | Harris HH EH1 R IH S
Boston B AO1 S T AX N | London L AH1 N D AX N | Berlin B AX R L IH1 N | Paris P EH1 R IH S
Dublin D AH1 B L IH N | Chicago SH IH K AA1 G OW | Denver D EH1 N V AX R | Vienna V IY EH1 N AX
Madrid M AX D R IH1 D | Oxford AA1 K S F AX R D | Geneva JH AX N IY1 V AX | Rome R OW1 M
"""


def _read_lexicon(text: str) -> dict[str, tuple[str, ...]]:
    entries = (entry.split() for line in text.splitlines() for entry in line.split("|") if entry)
    return {word: tuple(phones) for word, *phones in entries}


LEXICON = _read_lexicon(_LEXICON)
"""Words and their phones; the stressed vowel of a word of weight ends in ``1``."""

_GAPS = """
name: Anna Peter Maria David Laura Thomas Sarah Michael Julia Daniel Emma Martin Helen Robert
name: Nina George
surname: Miller Baker Wilson Carter Morgan Cooper Young Fischer Bell Harris
street: Miller Baker Wilson Carter Morgan Cooper Young Fischer Bell Harris
place: Boston London Berlin Paris Dublin Chicago Denver Vienna Madrid Oxford Geneva Rome
day: Monday Tuesday Wednesday Thursday Friday
month: January April May June August October
digit: zero one two three four five six seven eight nine
tens: twenty thirty forty fifty sixty
unit: one two three four five six seven eight nine
hour: one two three four five six seven eight nine ten eleven twelve
relative: mother father sister brother daughter son friend teacher doctor
where: school office station market hospital bank garden shop kitchen
thing: letter book picture paper ticket message table door window car
quality: old new big small red blue green black little good
when: today tomorrow
meal: coffee tea milk water bread lunch dinner
season: summer winter
weather: cold hot warm good
"""


def _read_gaps(text: str) -> dict[str, tuple[str, ...]]:
    gaps: dict[str, tuple[str, ...]] = {}
    for line in text.strip().splitlines():
        name, words = line.split(":")
        gaps[name] = (*gaps.get(name, ()), *words.split())
    return gaps


GAPS = _read_gaps(_GAPS)
"""Words for the gaps of the templates, by the name of the gap."""

_TEMPLATES = """
My name is {name} {surname}, and I live in {place}, on {street} Street.
Please call {name} {surname} at {digit} {digit} {digit}, {digit} {digit} {digit} {digit}.
My {relative} moved from {place} to {place} in {month}, {unit} years ago.
The meeting with {name} is on {day} at {hour}, at the {where} in {place}.
I have an appointment with the doctor on {day}, the {where} is open until {hour}.
The train to {place} leaves at {hour} {tens}, and we must not be late.
I think that {name} and {name} went to the {where} to buy some {meal}.
Could you send the {quality} {thing} to my {relative} before {day}, please?
The number of my account is {digit} {digit} {digit} {digit} {digit} {digit}, at the bank in {place}.
In {season} the weather in {place} is {weather}, but I like the rain and the trees.
When I was young, my {relative} made {meal} for all of the children every evening.
Do you remember the {quality} house by the river, where {name} lives with the dog?
We were waiting at the {where} for {tens} {unit} minutes, but the bus never came.
She said that the {quality} {thing} on the table was for {name}, not for me.
My birthday is in {month}, and {name} and {name} will come to the party.
I left the {quality} {thing} at the {where}, can you tell {name} to find it?
{name} {surname} works at the {where} in {place}, and is looking for another job.
How much money do you need for the {thing}, and which {quality} one would you take?
Thank you for the message about the {quality} {thing}, I will answer it {when}.
My {relative} really wants to visit {place}, because the music there is great.
Our address is {tens} {unit} {street} Road, and the code of the door is {digit} {digit} {digit}.
Listen, this is a very important question, and I want to hear the answer from {name}.
I read a long letter from {name} last night, and I still think about it.
The teacher will talk about the {quality} {thing} next week, between {hour} and {hour}.
"""

TEMPLATES = tuple(line for line in _TEMPLATES.splitlines() if line)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a sentence: spelling, phones, and the kind of gap it fills."""

    text: str
    phones: tuple[str, ...]
    mark: str = ""  # the punctuation behind it
    slot: str = ""  # "name", "place", ... where the template had a gap


def fill(template: str, rng: np.random.Generator) -> list[Word]:
    """Make a sentence from a template with random words in its gaps.

    Parameters
    ----------
    template : str
        A sentence with gaps such as ``{name}``.
    rng : Generator
        Source of randomness.
    """
    return [_word(token, rng) for token in template.split()]


def _word(token: str, rng: np.random.Generator) -> Word:
    bare = token.rstrip(",.?")
    mark, slot = token[len(bare) :], ""
    if bare.startswith("{"):
        slot = bare.strip("{}")
        bare = GAPS[slot][rng.integers(len(GAPS[slot]))]
    return Word(bare, pronounce(bare), mark, slot)


def pronounce(word: str) -> tuple[str, ...]:
    """Return the phones of a word.

    Parameters
    ----------
    word : str
        A word of the lexicon, in any case.
    """
    return LEXICON.get(word) or LEXICON[word.lower()]


def spell(words: list[Word]) -> str:
    """Return a sentence as text, with punctuation.

    Parameters
    ----------
    words : list of Word
        The sentence.
    """
    return " ".join(word.text + word.mark for word in words)
