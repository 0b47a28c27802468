"""IPA, as espeak-ng writes it, in terms of the 39 phones of the English acoustic model.

The model is used as a broad phonetic one: a sound that English lacks becomes the nearest sound, or
two in a row, that English has. For finding when something was said that is close enough.
"""

from __future__ import annotations

import unicodedata

from sottovoce.core.errors import InputError

_TABLE = """
p P | b B | t T | d D | k K | ɡ G | g G | c K | ɟ G | q K | ʔ | ʈ T | ɖ D | ɢ G | ʡ
m M | n N | ŋ NG | ɲ N Y | ɳ N | ɱ M | ɴ NG
f F | v V | θ TH | ð DH | s S | z Z | ʃ SH | ʒ ZH | ɕ SH | ʑ ZH | ʂ SH | ʐ ZH | ç HH | ʝ Y
x HH | ɣ G | χ HH | ʁ R | ħ HH | ʕ | h HH | ɦ HH | ɸ F | β V | ɧ SH | ɬ L | ɮ L | ʍ W
tʃ CH | dʒ JH | ts T S | dz D Z | tɕ CH | dʑ JH | tʂ CH | dʐ JH | pf P F | cç CH | ɟʝ JH
j Y | w W | ɥ W | ɹ R | r R | ɾ D | ɽ R | ɻ R | ʀ R | l L | ʎ L Y | ɫ L | ɭ L | ʟ L | ʋ V | ɰ W
i IY | ɪ IH | y UW | ʏ UH | ɨ IH | ʉ UW | ɯ UW | u UW | ʊ UH | ᵻ IH
e EY | ø ER | ɘ AH | ɵ UH | ɤ AH | o OW | ə AH | ɚ ER | ɝ ER | ɜ ER | ɛ EH | œ ER | ɞ ER
ʌ AH | ɔ AO | æ AE | ɐ AH | a AA | ɶ AA | ɑ AA | ɒ AO
eɪ EY | aɪ AY | ɔɪ OY | aʊ AW | oʊ OW | əʊ OW | ʌʊ OW | ɔʏ OY | ɔø OY | ou OW | ei EY | ai AY
au AW | oi OY | ʊɹ UH R | ɔɹ AO R | ɑɹ AA R | ɛɹ EH R | ɪɹ IH R | oːɹ AO R | aɪɚ AY ER
"""
_NASAL = "\u0303"
_IGNORED = set(
    "ˈˌːˑ.‿'ʲʰʷˠˤ|‖↗↘-_ \u0361\u035c\u0329\u032f\u0325\u030a\u031e\u031d\u0306\u0308\u032a"
)


def _read(table: str) -> dict[str, tuple[str, ...]]:
    entries = (entry.split() for line in table.strip().splitlines() for entry in line.split("|"))
    return {sound: tuple(phones) for sound, *phones in entries}


SOUNDS = _read(_TABLE)
"""IPA to phones; some sounds have none."""
LONGEST = max(map(len, SOUNDS))


def to_phones(ipa: str) -> tuple[str, ...]:
    """The phones of a word in IPA; the longest known sounds first.

    >>> to_phones("ʃtˈɾɑːsə"), to_phones("bɔ̃ʒˈuʁ")
    (('SH', 'T', 'D', 'AA', 'S', 'AH'), ('B', 'AO', 'NG', 'ZH', 'UW', 'R'))
    """
    marks = unicodedata.normalize("NFD", ipa.replace("ç", "\ue000"))  # NFD would take it apart
    plain = "".join(sign for sign in marks if sign not in _IGNORED).replace("\ue000", "ç")
    phones: list[str] = []
    place = 0
    while place < len(plain):
        if plain[place] == _NASAL:  # a nasal vowel becomes a vowel and a nasal
            phones.append("NG")
            place += 1
            continue
        size = next((n for n in range(LONGEST, 0, -1) if plain[place : place + n] in SOUNDS), 0)
        if not size:
            raise InputError(f"IPA sound {plain[place]!r} is not known; give the word another way")
        phones += SOUNDS[plain[place : place + size]]
        place += size
    return tuple(phones)


NAMES = {
    "AA": "ɑ", "AE": "æ", "AH": "ʌ", "AO": "ɔ", "AW": "aʊ", "AY": "aɪ", "B": "b", "CH": "tʃ",
    "D": "d", "DH": "ð", "EH": "ɛ", "ER": "ɝ", "EY": "eɪ", "F": "f", "G": "ɡ", "HH": "h",
    "IH": "ɪ", "IY": "i", "JH": "dʒ", "K": "k", "L": "l", "M": "m", "N": "n", "NG": "ŋ",
    "OW": "oʊ", "OY": "ɔɪ", "P": "p", "R": "ɹ", "S": "s", "SH": "ʃ", "T": "t", "TH": "θ",
    "UH": "ʊ", "UW": "u", "V": "v", "W": "w", "Y": "j", "Z": "z", "ZH": "ʒ",
}  # fmt: skip
"""The phones of the model in IPA."""
