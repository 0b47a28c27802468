"""An attacker: somebody who overheard released speech of known people."""

from sottovoce.attack import Attacker

EAVESDROPPER = Attacker(
    name="eavesdropper",
    enrolment="released",
    training="original",
    summary="knows who speaks in some of the released recordings, but trains on originals",
    rank=1,
)
