"""Normalise transcripts before their words are compared.

Differences of spelling are not errors of recognition: case, punctuation, "don't" and "do not",
"twenty-three" and 23, colour and color. The rules follow the idea of Whisper's English normaliser
(Radford et al. 2023, appendix C); the word lists and the code are our own. Other languages get the
rules for case and punctuation and, where words are not separated, for single characters.
"""

from __future__ import annotations

import re
import unicodedata

from sottovoce.core.languages import language_code
from sottovoce.core.number_words import words_to_digits

_FILLERS = frozenset(["hm", "hmm", "mm", "mhm", "mmm", "uh", "um", "umm", "er", "erm"])
"""Sounds that some recognisers write and others leave out."""

_TITLES = {
    "mr": "mister",
    "mrs": "missus",
    "ms": "miss",
    "dr": "doctor",
    "st": "saint",
    "prof": "professor",
    "jr": "junior",
    "sr": "senior",
    "capt": "captain",
    "gov": "governor",
    "gen": "general",
    "lt": "lieutenant",
    "rev": "reverend",
    "hon": "honorable",
    "col": "colonel",
    "sgt": "sergeant",
}

_IRREGULAR_CONTRACTIONS = {
    "won't": "will not",
    "can't": "can not",
    "cannot": "can not",
    "shan't": "shall not",
    "ain't": "is not",
    "let's": "let us",
    "y'all": "you all",
    "gonna": "going to",
    "gotta": "got to",
    "wanna": "want to",
    "'em": "them",
    "o'clock": "o'clock",
}
_CONTRACTIONS = [
    (re.compile(r"n't$"), " not"),
    (re.compile(r"'re$"), " are"),
    (re.compile(r"'s$"), " is"),
    (re.compile(r"'d$"), " would"),
    (re.compile(r"'ll$"), " will"),
    (re.compile(r"'ve$"), " have"),
    (re.compile(r"'m$"), " am"),
]
_SYMBOLS = {"%": " percent ", "&": " and ", "$": " dollars ", "£": " pounds ", "€": " euros "}
_BRACKETED = re.compile(r"\[[^\]]*\]|<[^>]*>|\([^)]*\)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_FULL_STOP = re.compile(r"\.(?!\d)|(?<!\d)\.")
_INITIALS = re.compile(r"\b(?:[a-z]\.){2,}")
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff])"
)


def normalise(text: str, language: str = "en") -> str:
    """Return the words of a transcript in one spelling, separated by single spaces.

    Parameters
    ----------
    text : str
        A transcript.
    language : str, default "en"
        Code of the language, such as ``en-GB``. All languages but English get the rules for case
        and punctuation only; an empty string counts as English.

    >>> normalise("Mr. Brown's colours won't fade in twenty-three years!")
    'mister brown is colors will not fade in 23 years'
    >>> normalise("Mr. Brown is, uh, 1,000 per cent sure.")
    'mister brown is 1000 percent sure'
    >>> normalise("¿Qué? ¡Sí!", "es")
    'qué sí'
    """
    if language_code(language) in ("", "en"):
        return _normalise_english(text)
    return _normalise_other(text)


def _normalise_other(text: str) -> str:
    """Lower case without punctuation; characters of scripts without spaces stand alone."""
    text = unicodedata.normalize("NFKC", _BRACKETED.sub(" ", text)).lower()
    written = "".join(char if _is_written(char) else " " for char in text.replace("'", ""))
    return " ".join(_UNSPACED.sub(r" \1 ", written).split())


def _normalise_english(text: str) -> str:
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("‘", "'")
    text = _BRACKETED.sub(" ", text)
    for symbol, word in _SYMBOLS.items():
        text = text.replace(symbol, word)
    text = _INITIALS.sub(lambda match: match[0].replace(".", ""), text)
    text = _FULL_STOP.sub(" ", _THOUSANDS.sub("", text))
    text = text.replace("per cent ", "percent ")
    base = (char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
    text = "".join(char if char in "'." or _is_written(char) else " " for char in base)
    words = [part for word in text.split() for part in _expand_contraction(word).split()]
    words = [_TITLES.get(word, word) for word in words if word not in _FILLERS]
    return " ".join(american_spelling(word) for word in words_to_digits(words))


def _expand_contraction(word: str) -> str:
    """Return the words a contraction stands for; remove other apostrophes."""
    if word in _IRREGULAR_CONTRACTIONS:
        return _IRREGULAR_CONTRACTIONS[word].replace("'", "")
    word = word.strip("'.") if not word.startswith("'em") else word
    if word in _IRREGULAR_CONTRACTIONS:
        return _IRREGULAR_CONTRACTIONS[word].replace("'", "")
    for ending, words in _CONTRACTIONS:
        if ending.search(word):
            word = ending.sub(words, word)
            break
    return word.replace("'", "")


def _is_written(char: str) -> bool:
    """Tell letters, marks and digits from punctuation and symbols."""
    return unicodedata.category(char)[0] in "LMN"


# ==================================================================== British and American spelling

_OUR_SPELLINGS = """
    arbor ardor armor behavior candor clamor clangor color demeanor endeavor favor fervor flavor
    glamor harbor honor humor labor misdemeanor neighbor odor parlor rancor rigor rumor savior
    savor splendor succor tumor valor vapor vigor
"""
_DOUBLED_CONSONANTS = """
    barrel cancel carol channel counsel cruel dial duel equal fuel gravel grovel initial jewel
    label level libel marshal marvel model panel parcel pencil pistol quarrel ravel revel rival
    shovel signal snivel spiral squirrel total towel travel tunnel unravel worship kidnap
"""
_ER_SPELLINGS = """
    caliber center fiber liter luster maneuver meager miter niter ocher reconnoiter saber
    scepter sepulcher somber specter theater
"""
_SPELLING_PAIRS = """
    grey/gray greys/grays greyish/grayish cheque/check cheques/checks tyre/tire tyres/tires
    programme/program programmes/programs catalogue/catalog catalogues/catalogs dialogue/dialog
    dialogues/dialogs analogue/analog plough/plow ploughs/plows ploughed/plowed
    ploughing/plowing mould/mold moulds/molds moulded/molded mouldy/moldy moulding/molding
    smoulder/smolder smouldering/smoldering moustache/mustache moustaches/mustaches
    pyjamas/pajamas aluminium/aluminum judgement/judgment judgements/judgments
    acknowledgement/acknowledgment ageing/aging storey/story storeys/stories axe/ax
    sulphur/sulfur draught/draft draughts/drafts gaol/jail gaoler/jailer jewellery/jewelry
    kerb/curb sceptic/skeptic sceptical/skeptical scepticism/skepticism defence/defense
    defences/defenses defenceless/defenseless offence/offense offences/offenses licence/license
    licences/licenses pretence/pretense pretences/pretenses practise/practice
    practised/practiced practises/practices practising/practicing skilful/skillful
    skilfully/skillfully wilful/willful wilfully/willfully fulfil/fulfill fulfils/fulfills
    fulfilment/fulfillment enrol/enroll enrols/enrolls enrolment/enrollment
    instalment/installment instil/instill distil/distill woollen/woolen waggon/wagon
    waggons/wagons encyclopaedia/encyclopedia mediaeval/medieval anaemia/anemia anaemic/anemic
    foetus/fetus paediatric/pediatric haemorrhage/hemorrhage diarrhoea/diarrhea
    manoeuvre/maneuver manoeuvres/maneuvers manoeuvred/maneuvered manoeuvring/maneuvering
    aeroplane/airplane aeroplanes/airplanes cosy/cozy artefact/artifact artefacts/artifacts
    whisky/whiskey okay/ok learnt/learned burnt/burned spoilt/spoiled dreamt/dreamed
    leapt/leaped spelt/spelled whilst/while amongst/among furore/furor sombre/somber
"""
_ALWAYS_ISE = """
    advertise advise appraise apprise arise braise bruise chastise circumcise clockwise comprise
    compromise concise cruise demise despise devise disguise enterprise excise exercise
    expertise franchise guise improvise incise liaise likewise malaise marquise mayonnaise
    merchandise mortise noise otherwise paradise poise polonaise porpoise praise precise premise
    promise raise reprise revise rise supervise surmise surprise televise tortoise treatise
    turquoise unwise valise wise
"""
_ISE_ENDING = re.compile(r"^(\w{3,}?)is(e|ed|es|er|ers|ing|ation|ations|able)$")
_YSE_ENDING = re.compile(r"^(anal|paral|catal)ys(e|ed|es|er|ers|ing)$")


def _spelling_table() -> dict[str, str]:
    table = dict(pair.split("/") for pair in _SPELLING_PAIRS.split())
    endings = "s ed ing ful fully less able ably ite ites er ers ly hood hoods y fulness"
    for word in _OUR_SPELLINGS.split():
        british = f"{word[:-2]}our"
        table.update({british + ending: word + ending for ending in ("", *endings.split())})
    for word in _DOUBLED_CONSONANTS.split():
        for ending in ("ed", "ing", "er", "ers", "ings", "ous", "ously", "or", "ors", "y"):
            table[f"{word}{word[-1]}{ending}"] = f"{word}{ending}"
    for word in _ER_SPELLINGS.split():
        british = f"{word[:-2]}re"
        table.update({british: word, f"{british}s": f"{word}s", f"{british}d": f"{word}ed"})
    return table


_SPELLINGS = _spelling_table()


def american_spelling(word: str) -> str:
    """Return the American spelling of an English word.

    Parameters
    ----------
    word : str
        A word in lower case; one that is not spelt in the British way is returned as it is.

    >>> [american_spelling(word) for word in ("colour", "realised", "travelling", "promise")]
    ['color', 'realized', 'traveling', 'promise']
    """
    if word in _SPELLINGS:
        return _SPELLINGS[word]
    if match := _YSE_ENDING.match(word):
        return f"{match[1]}yz{match[2]}"
    if (match := _ISE_ENDING.match(word)) and not _keeps_s(match[1]):
        return f"{match[1]}iz{match[2]}"
    return word


def _keeps_s(stem: str) -> bool:
    """Tell whether a word is spelt with s in American English too, such as promise."""
    return f"{stem}ise" in _ALWAYS_ISE.split() or any(
        stem.endswith(word[:-3]) for word in ("raise", "noise", "bruise", "advise", "vise")
    )
