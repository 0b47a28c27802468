"""IPA, as espeak-ng writes it, in terms of the 39 phones of the English acoustic model.

The model is used as a broad phonetic model: a sound that English lacks becomes the nearest sound,
or the two sounds in a row, that English has. That is exact enough to find when a word was said.
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
_C_CEDILLA = "\ue000"
_IGNORED = set(
    "ˈˌːˑ.‿'ʲʰʷˠˤ|‖↗↘-_ \u0361\u035c\u0329\u032f\u0325\u030a\u031e\u031d\u0306\u0308\u032a"
)


def _read_table(table: str) -> dict[str, tuple[str, ...]]:
    entries = (entry.split() for line in table.strip().splitlines() for entry in line.split("|"))
    return {sound: tuple(phones) for sound, *phones in entries}


_PHONES = _read_table(_TABLE)
"""Phones by IPA sound; glottal stops have none."""
_LONGEST_SOUND = max(map(len, _PHONES))


def ipa_to_phones(ipa: str) -> tuple[str, ...]:
    """Return the phones of a word in IPA; the longest sounds of the table are matched first.

    Parameters
    ----------
    ipa : str
        A word in IPA; stress, length and similar marks are ignored.

    Raises
    ------
    InputError
        ``unsupported`` if a sound is not in the table.

    >>> ipa_to_phones("ʃtˈɾɑːsə"), ipa_to_phones("bɔ̃ʒˈuʁ")
    (('SH', 'T', 'D', 'AA', 'S', 'AH'), ('B', 'AO', 'NG', 'ZH', 'UW', 'R'))
    """
    decomposed = unicodedata.normalize("NFD", ipa.replace("ç", _C_CEDILLA))  # ç stays whole
    plain = "".join(char for char in decomposed if char not in _IGNORED).replace(_C_CEDILLA, "ç")
    phones: list[str] = []
    position = 0
    while position < len(plain):
        if plain[position] == _NASAL:  # a nasal vowel becomes a vowel and a nasal
            phones.append("NG")
            position += 1
            continue
        sizes = range(_LONGEST_SOUND, 0, -1)
        size = next((n for n in sizes if plain[position : position + n] in _PHONES), 0)
        if not size:
            raise InputError(
                f"IPA sound {plain[position]!r} is not known; give the word another way",
                code="unsupported",
            )
        phones += _PHONES[plain[position : position + size]]
        position += size
    return tuple(phones)


PHONE_TO_IPA = {
    "AA": "ɑ", "AE": "æ", "AH": "ʌ", "AO": "ɔ", "AW": "aʊ", "AY": "aɪ", "B": "b", "CH": "tʃ",
    "D": "d", "DH": "ð", "EH": "ɛ", "ER": "ɝ", "EY": "eɪ", "F": "f", "G": "ɡ", "HH": "h",
    "IH": "ɪ", "IY": "i", "JH": "dʒ", "K": "k", "L": "l", "M": "m", "N": "n", "NG": "ŋ",
    "OW": "oʊ", "OY": "ɔɪ", "P": "p", "R": "ɹ", "S": "s", "SH": "ʃ", "T": "t", "TH": "θ",
    "UH": "ʊ", "UW": "u", "V": "v", "W": "w", "Y": "j", "Z": "z", "ZH": "ʒ",
}  # fmt: skip
"""IPA by phone of the acoustic model."""
