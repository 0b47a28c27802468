"""British spellings as American ones, so that neither counts as an error of the other."""

from __future__ import annotations

import re

_OUR = """
    arbor ardor armor behavior candor clamor clangor color demeanor endeavor favor fervor flavor
    glamor harbor honor humor labor misdemeanor neighbor odor parlor rancor rigor rumor savior
    savor splendor succor tumor valor vapor vigor
"""
_DOUBLED = """
    barrel cancel carol channel counsel cruel dial duel equal fuel gravel grovel initial jewel
    label level libel marshal marvel model panel parcel pencil pistol quarrel ravel revel rival
    shovel signal snivel spiral squirrel total towel travel tunnel unravel worship kidnap
"""
_ER = """
    caliber center fiber liter luster maneuver meager miter niter ocher reconnoiter saber
    scepter sepulcher somber specter theater
"""
_PAIRS = """
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
_FIXED_ISE = """
    advertise advise appraise apprise arise braise bruise chastise circumcise clockwise comprise
    compromise concise cruise demise despise devise disguise enterprise excise exercise
    expertise franchise guise improvise incise liaise likewise malaise marquise mayonnaise
    merchandise mortise noise otherwise paradise poise polonaise porpoise praise precise premise
    promise raise reprise revise rise supervise surmise surprise televise tortoise treatise
    turquoise unwise valise wise
"""
_ISE = re.compile(r"^(\w{3,}?)is(e|ed|es|er|ers|ing|ation|ations|able)$")
_YSE = re.compile(r"^(anal|paral|catal)ys(e|ed|es|er|ers|ing)$")


def _table() -> dict[str, str]:
    found = dict(pair.split("/") for pair in _PAIRS.split())
    endings = "s ed ing ful fully less able ably ite ites er ers ly hood hoods y fulness"
    for word in _OUR.split():
        british = f"{word[:-2]}our"
        found.update({british + ending: word + ending for ending in ("", *endings.split())})
    for word in _DOUBLED.split():
        for ending in ("ed", "ing", "er", "ers", "ings", "ous", "ously", "or", "ors", "y"):
            found[f"{word}{word[-1]}{ending}"] = f"{word}{ending}"
    for word in _ER.split():
        british = f"{word[:-2]}re"
        found.update({british: word, f"{british}s": f"{word}s", f"{british}d": f"{word}ed"})
    return found


_TABLE = _table()


def american(word: str) -> str:
    """The American spelling of an English word in lower case; other words as they are.

    >>> [american(word) for word in ("colour", "realised", "travelling", "promise", "centre")]
    ['color', 'realized', 'traveling', 'promise', 'center']
    """
    if word in _TABLE:
        return _TABLE[word]
    if found := _YSE.match(word):
        return f"{found[1]}yz{found[2]}"
    if (found := _ISE.match(word)) and not _keeps_s(found[1]):
        return f"{found[1]}iz{found[2]}"
    return word


def _keeps_s(stem: str) -> bool:
    """Whether the word is one that is written with s everywhere, such as promise."""
    return f"{stem}ise" in _FIXED_ISE.split() or any(
        stem.endswith(fixed[:-3]) for fixed in ("raise", "noise", "bruise", "advise", "vise")
    )
