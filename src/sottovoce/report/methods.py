"""What the figures of an audit's page are: how each is measured, and whose work that is."""

from __future__ import annotations

from sottovoce.report.html import Markup, element


def methods_section() -> Markup:
    """Build the list of what is measured, how, and whose work that is."""
    parts = []
    for name, text, papers in METHODS:
        source = element("small", f" {papers}.") if papers else None
        parts += [element("dt", name), element("dd", text, source)]
    return element("dl", *parts)


METHODS = (
    (
        "Attackers",
        "Speech is split into enrolment (whose speaker the attacker knows) and trials. An encoder "
        "turns recordings into vectors, a linkage function scores pairs. What an attacker may "
        "enrol with and train on follows from what it knows.",
        "Srivastava, Vauquier, Sahidullah, Bellet, Tommasi and Vincent, Evaluating voice "
        "conversion-based privacy protection against informed attackers, ICASSP 2020; Tomashenko "
        "et al., The VoicePrivacy 2020 Challenge: results and findings, Computer Speech & Language "
        "74, 2022",
    ),
    (
        "Linkability and Singling Out",
        "Linkability: the share of trials for which the true speaker scores highest among N "
        "enrolled; chance 1/N. Singling Out: the share of populations in which a rule made from "
        "one person's speech fits exactly one recording; a random rule does in 1/e = 36.8 %.",
        "Vauquier, Srivastava, Hosseini and Vincent, Legally validated evaluation framework for "
        "voice anonymization, 2025; after Article 29 Working Party, Opinion 05/2014, and Cohen and "
        "Nissim, Towards formalizing the GDPR's notion of singling out, PNAS 117(15), 2020",
    ),
    (
        "D_ECE and worst case",
        "How many bits the scores disclose on average over all priors (0 to 0.72), and the "
        "strongest evidence for or against any one pair, with its category 0, A to F.",
        "Nautsch, Patino, Tomashenko, Yamagishi, Noé, Bonastre, Todisco and Evans, The Privacy "
        "ZEBRA: Zero Evidence Biometric Recognition Assessment, Interspeech 2020",
    ),
    (
        "Linkability of scores D_sys; EER",
        "D_sys: how far mated scores stand out where they occur, without any threshold; the "
        "corrected one, by which it is judged, is without the bias of the histogram. EER: the "
        "error of an attacker who misses as often as it raises false alarms.",
        "Maouche, Srivastava, Vauquier, Bellet, Tommasi and Vincent, A comparative study of speech "
        "anonymization metrics, Interspeech 2020; Gomez-Barrero, Galbally, Rathgeb and Busch, "
        "General framework to evaluate unlinkability in biometric template protection systems, "
        "IEEE TIFS 13(6), 2018",
    ),
    (
        "Similarity matrices, DeID and G_VD",
        "Voices before and after compared with each other, speaker by speaker.",
        "Noé, Bonastre, Matrouf, Tomashenko, Nautsch and Evans, Speech pseudonymisation assessment "
        "using voice similarity matrices, Interspeech 2020",
    ),
    (
        "Privacy against utility",
        "Anonymisers by the strongest attack on them and by what they keep.",
        "Srivastava, Maouche, Sahidullah, Vincent, Bellet, Tommasi, Tomashenko, Wang and "
        "Yamagishi, Privacy and utility of x-vector based speaker anonymization, IEEE/ACM TASLP "
        "30, 2022; COMPRISE, Deliverable D2.3, 2021",
    ),
    (
        "Whether an attacker can be trusted",
        "It must tell voices apart on originals, fit its own training speakers, fail under "
        "exchanged names, and not be beaten by one that knows less or links otherwise.",
        "Giomi, Boenisch, Wehmeyer and Tasnádi, A unified framework for quantifying privacy risk "
        "in synthetic data, PoPETs 2023",
    ),
    (
        "Intervals",
        "Speakers are drawn again with replacement, since recordings of one person are not "
        "independent; where speakers are unknown or too few, trials.",
        "",
    ),
)
"""What is measured, how, and the papers."""
