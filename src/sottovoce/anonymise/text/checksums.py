"""Check digits of cards, accounts and national numbers."""

from __future__ import annotations

_DNI = "TRWAGMYFPDXBNJZSQVHLCKE"
_ODD = dict(
    zip(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (
            1,
            0,
            5,
            7,
            9,
            13,
            15,
            17,
            19,
            21,
            1,
            0,
            5,
            7,
            9,
            13,
            15,
            17,
            19,
            21,
            2,
            4,
            18,
            20,
            11,
            3,
            6,
            8,
            12,
            14,
            16,
            10,
            22,
            25,
            24,
            23,
        ),
        strict=True,
    )
)


def luhn(number: str) -> bool:
    """Payment cards (ISO/IEC 7812).

    >>> luhn("4111 1111 1111 1111"), luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = _digits(number)
    doubled = [2 * d - 9 * (d > 4) if i % 2 else d for i, d in enumerate(reversed(digits))]
    return 12 < len(digits) < 20 and sum(doubled) % 10 == 0


def iban(number: str) -> bool:
    """Bank accounts (ISO 13616).

    >>> iban("GB82 WEST 1234 5698 7654 32"), iban("GB82 WEST 1234 5698 7654 33")
    (True, False)
    """
    joined = "".join(c for c in number.upper() if c.isalnum())
    turned = joined[4:] + joined[:4]
    return turned.isascii() and int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def german_tax(number: str) -> bool:
    """Steuer-Identifikationsnummer (ISO 7064 MOD 11, 10)."""
    digits = _digits(number)
    product = 10
    for digit in digits[:-1]:
        total = (digit + product) % 10 or 10
        product = 2 * total % 11
    return len(digits) == 11 and digits[0] != 0 and (11 - product) % 10 == digits[-1]


def spanish_dni(number: str) -> bool:
    """DNI and NIE: the letter is the number modulo 23."""
    joined = "".join(c for c in number.upper() if c.isalnum())
    body = joined[:-1].replace("X", "0").replace("Y", "1").replace("Z", "2")
    return body.isdigit() and len(body) == 8 and _DNI[int(body) % 23] == joined[-1]


def french_nir(number: str) -> bool:
    """Numéro de sécurité sociale: key = 97 − number mod 97."""
    joined = "".join(c for c in number.upper() if c.isalnum())
    body = joined[:13].replace("2A", "19").replace("2B", "18")
    return (
        len(joined) == 15
        and (body + joined[13:]).isdigit()
        and 97 - int(body) % 97 == int(joined[13:])
    )


def italian_fiscal(code: str) -> bool:
    """Codice fiscale: the last letter checks the fifteen before."""
    code = code.upper()
    if len(code) != 16 or not code.isascii() or not code.isalnum():
        return False
    total = sum(
        _ODD[c] if i % 2 == 0 else (int(c) if c.isdigit() else ord(c) - 65)
        for i, c in enumerate(code[:15])
    )
    return chr(65 + total % 26) == code[15]


def dutch_bsn(number: str) -> bool:
    """Burgerservicenummer: the test of eleven."""
    digits = _digits(number)
    weights = (9, 8, 7, 6, 5, 4, 3, 2, -1)
    total = sum(w * d for w, d in zip(weights, digits, strict=False))
    return len(digits) == 9 and any(digits) and total % 11 == 0


def portuguese_nif(number: str) -> bool:
    """Número de identificação fiscal, modulo 11."""
    digits = _digits(number)
    total = sum((9 - i) * d for i, d in enumerate(digits[:8]))
    check = 11 - total % 11
    return len(digits) == 9 and digits[-1] == (0 if check > 9 else check)


def latvian_code(number: str) -> bool:
    """Personas kods: of old ones the check digit, of new ones (32…) the beginning."""
    digits = _digits(number)
    weights = (1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    check = (1101 - sum(w * d for w, d in zip(weights, digits, strict=False))) % 11 % 10
    return len(digits) == 11 and (digits[:2] == [3, 2] or digits[-1] == check)


def _digits(number: str) -> list[int]:
    return [int(c) for c in number if c in "0123456789"]
