"""The report of a study of memorisation: one page that a person can read, print and act on."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sottovoce import __version__
from sottovoce.core.records import to_json
from sottovoce.findings import LanguageModelFinding, MemorisationFindings, TaggerCheck, TaggerStudy
from sottovoce.report.formats import counted
from sottovoce.report.html import Content, Markup, bullets, document, element, folded, joined
from sottovoce.report.memorisation_readings import (
    group_p_value,
    last_checks,
    model_reading,
    tagger_sentences,
)
from sottovoce.report.panels import panel
from sottovoce.report.svg import Axis, Line, line_chart
from sottovoce.report.tables import Lines, Table, make_table

CONTENTS = {
    "verdict": "What the models remember",
    "numbers": "Exposure of the canaries",
    "taggers": "Taggers",
    "checks": "Is the measure right?",
    "methods": "How to read it",
    "provenance": "Provenance",
}
SYNTHETIC = (
    "Synthetic text: a small grammar made the sentences of this study. It shows how a study reads; "
    "models of real text remember more or less than these."
)
METHODS = (
    "Invented secrets (canaries) were put into the training text. A model that has not memorised a "
    "secret finds it as likely as any other value. Exposure is how far up it ranks, in bits: 0 at "
    "the bottom, log2 of the number of values at the top.",
    "A secret that was never inserted has 1.44 bits on average, and one in ten has more than 3.3: "
    "read an exposure with its p-value, and beside the row of 0 insertions.",
    "These are lower limits: other ways of asking a model may get more out of it. A secret of "
    "people is not random, so a model may guess it better than an invented one.",
    "d-exposure ranks the confidence of a tagger in an ambiguous word being of the class it was "
    "inserted as, among the words that the data have as that class only. It is not zero without "
    "insertions, since the data have the word as well.",
)
PAPERS = (
    "Carlini, Liu, Erlingsson, Kos and Song, The Secret Sharer, USENIX Security 2019; COMPRISE "
    "deliverable D2.3, sections 4.3.4 and 4.3.5, 2021; Helali, Kleinbauer and Klakow, Assessing "
    "unintended memorization in neural discriminative sequence models, TSD 2020."
)


def render_memorisation(findings: MemorisationFindings) -> str:
    """Write the page of a study of memorisation.

    Parameters
    ----------
    findings : MemorisationFindings
        Everything that the study found.

    Returns
    -------
    str
        HTML of one file that fetches nothing.
    """
    sections: dict[str, Content] = {"verdict": _verdict(findings)}
    if findings.language_models:
        sections["numbers"] = _numbers(findings.language_models)
    if findings.taggers is not None:
        sections["taggers"] = _taggers(findings.taggers)
    if findings.language_models:
        sections["checks"] = _checks(findings.language_models)
    methods = [element("p", line) for line in METHODS]
    sections["methods"] = joined([*methods, element("p", PAPERS, class_="soft")])
    sections["provenance"] = _provenance(findings)
    links = [element("a", CONTENTS[name], href=f"#{name}") for name in sections]
    title = f"{findings.name}: what models remember"
    return document(
        title,
        element(
            "header",
            element("p", "sottovoce memorisation", class_="kicker"),
            element("h1", title),
            element("p", _description(findings)),
            element("p", SYNTHETIC, class_="notice") if findings.synthetic else None,
            element("nav", bullets(links), aria_label="Contents"),
        ),
        element("main", *(_section(name, part) for name, part in sections.items())),
        element("footer", element("p", f"Written by sottovoce {__version__}.")),
    )


def _section(name: str, content: Content) -> Markup:
    heading = element("h2", CONTENTS[name], id=name)
    return element("section", heading, content, id=f"{name}-page", aria_labelledby=name)


def _description(findings: MemorisationFindings) -> str:
    sentences = []
    if findings.text is not None:
        text = findings.text
        sentences.append(
            f"{text.name}: {counted(text.sentences, 'sentence')}, {text.words:,} words; "
            f"{counted(text.canaries, 'canary', 'canaries')}, "
            f"{counted(text.inserted, 'sentence')} inserted."
        )
    if findings.taggers is not None:
        count = counted(findings.taggers.sentences, "tagged sentence")
        sentences.append(f"Taggers trained on {count}.")
    return " ".join(sentences)


def _verdict(findings: MemorisationFindings) -> Markup:
    cards = []
    for model in findings.language_models:
        reading = model_reading(model)
        cards.append(
            element(
                "article",
                element("h3", f"Language model, {model.label}"),
                element("p", element("strong", reading.headline), class_="finding"),
                bullets(reading.sentences),
                class_=f"card {reading.kind}",
            )
        )
    if findings.taggers is not None:
        cards.append(
            element(
                "article",
                element("h3", "Taggers"),
                bullets(tagger_sentences(findings.taggers)),
                class_="card doubt",
            )
        )
    return element("div", *cards, class_="verdicts")


# ---------------------------------------------------------------------------- language models


def _numbers(models: Sequence[LanguageModelFinding]) -> Markup:
    specs = list(dict.fromkeys(group.spec for group in models[0].last.groups))
    panels = [_epochs_panel(models, spec) for spec in specs]
    return joined([exposure_table(models).to_html(), element("div", *panels, class_="figures")])


def exposure_table(models: Sequence[LanguageModelFinding]) -> Table:
    """Arrange the exposure of all groups of canaries after the last epoch.

    Parameters
    ----------
    models : sequence of LanguageModelFinding
        One or more models.
    """
    rows = []
    for model in models:
        for group in model.last.groups:
            summary = group.summary
            bits = f"{group.bits:.2f}"
            ends = () if summary is None else (f"{summary.low:.2f} to {summary.high:.2f}",)
            rows.append(
                (
                    model.label,
                    group.spec,
                    str(group.repetitions),
                    str(len(group.canaries)),
                    Lines(bits, ends) if ends else bits,
                    f"{group.canaries[0].exposure.maximum_bits:.2f}",
                    f"{group_p_value(group):.2g}",
                    f"{model.last.test_perplexity:.1f}",
                )
            )
    headings = (
        "model",
        "secret",
        "insertions",
        "canaries",
        "exposure, bits",
        "at most",
        "p-value",
        "test perplexity",
    )
    return make_table("Exposure after the last epoch", headings, rows, text=(1,))


def _epochs_panel(models: Sequence[LanguageModelFinding], spec: str) -> Markup:
    """Exposure over epochs, a line for each model and number of insertions."""
    lines: list[Line] = []
    rows: list[tuple[str, str, str]] = []
    most, last = 0.0, 2
    for model in models:
        counts = [group.repetitions for group in model.last.groups if group.spec == spec]
        for count in counts:
            points = [
                (check.epoch, group.bits)
                for check in model.checks
                for group in check.groups
                if group.spec == spec and group.repetitions == count
            ]
            name = f"{model.label}, {counted(count, 'insertion')}"
            epochs, bits = [p[0] for p in points], [p[1] for p in points]
            lines.append(Line(name, epochs, bits, len(lines)))
            rows += [(name, str(epoch), f"{value:.2f}") for epoch, value in points]
            last = max(last, *epochs)
        groups = [group for group in model.last.groups if group.spec == spec]
        most = max(most, *(group.canaries[0].exposure.maximum_bits for group in groups))
    null = Line("never seen, on average", [1, last], [1.44, 1.44], len(lines))
    figure = line_chart(
        f"Exposure of {spec} over epochs",
        f"Mean exposure in bits after each epoch, at most {most:.2f}.",
        Axis.nice("epoch", 1, last),
        Axis.nice("exposure in bits", 0, most),
        [*lines, null],
    )
    table = make_table(f"Exposure of {spec}", ("model and insertions", "epoch", "bits"), rows)
    caption = (
        f"The top of the figure, {most:.2f} bits, is full exposure: the secret is the model's "
        "first guess."
    )
    return panel(figure, table, caption)


def _checks(models: Sequence[LanguageModelFinding]) -> Markup:
    return joined(
        [
            element(
                "p",
                "Random values that were never inserted must have the mean exposure of random "
                "ranks, and estimates from a sample must agree with the exact exposure.",
            ),
            _control_table(models).to_html(),
            _estimator_table(models).to_html(),
            element(
                "p",
                "An estimate from a sample cannot exceed log2 of its size, and a skew-normal "
                "distribution may be several bits too low for memorised secrets: rest on exact "
                "exposure where the space can be listed.",
                class_="soft",
            ),
        ]
    )


def _control_table(models: Sequence[LanguageModelFinding]) -> Table:
    rows = [
        (
            model.label,
            control.spec,
            f"{control.summary.secrets:,}",
            Lines(
                f"{control.summary.value:.2f}",
                (f"{control.summary.low:.2f} to {control.summary.high:.2f}",),
            ),
            f"{control.summary.null_mean:.2f}",
            "yes" if control.contains_null else "no",
        )
        for model in models
        for control in model.controls
    ]
    headings = ("model", "secret", "random values", "mean bits", "expected", "in the interval")
    return make_table("Values that were never inserted", headings, rows, text=(1,))


def _estimator_table(models: Sequence[LanguageModelFinding]) -> Table:
    rows = [
        (
            model.label,
            check.canary,
            f"{check.exact.exposure_bits:.2f}",
            f"{check.sampled.exposure_bits:.2f}",
            "–" if check.fitted is None else f"{check.fitted.exposure_bits:.2f}",
        )
        for model in models
        for check in model.estimators
    ]
    headings = ("model", "canary", "exact", "sampled", "skew-normal")
    return make_table("Exposure in bits by method", headings, rows, text=(1,))


# ------------------------------------------------------------------------------------ taggers


def _taggers(study: TaggerStudy) -> Markup:
    words = "; ".join(
        f"{entry.word} as {entry.label} (in the data "
        f"{', '.join(f'{kind} {count}' for kind, count in entry.counts.items())})"
        for entry in study.words
    )
    several = len({check.repetitions for check in study.checks}) > 1
    panels = [_repetitions_panel(study)] if several else []
    if study.overfitting:
        panels.append(_overfitting_panel(study.overfitting))
    return joined(
        [
            element("p", f"Inserted in “{study.phrase}”: {words}."),
            tagger_table(study.checks, "d-exposure in bits").to_html(),
            element("div", *panels, class_="figures") if panels else "",
        ]
    )


def tagger_table(checks: Sequence[TaggerCheck], caption: str) -> Table:
    """Arrange the d-exposure of taggers by class.

    Parameters
    ----------
    checks : sequence of TaggerCheck
        At least one; all of the same classes.
    caption : str
        What the table shows.
    """
    classes = [
        f"{entry.label} (at most {entry.maximum_bits:.2f})" for entry in checks[0].exposure.classes
    ]
    rows = [
        (
            check.tagger,
            str(check.repetitions),
            str(check.epoch),
            *(f"{entry.exposure_bits:.2f}" for entry in check.exposure.classes),
            f"{check.exposure.value:.2f}",
            f"{check.f1:.3f}",
            f"{check.train_f1:.3f}",
        )
        for check in checks
    ]
    headings = ("tagger", "insertions", "epoch", *classes, "mean", "test F1", "training F1")
    return make_table(caption, headings, rows)


def _repetitions_panel(study: TaggerStudy) -> Markup:
    lines: list[Line] = []
    last = study.checks
    counts = sorted({check.repetitions for check in study.checks})
    for kind in dict.fromkeys(check.tagger for check in study.checks):
        checks = last_checks(study, kind)
        places = [counts.index(check.repetitions) for check in checks]
        lines.append(Line(f"{kind}, mean", places, [c.exposure.value for c in checks], len(lines)))
        for number, entry in enumerate(checks[0].exposure.classes):
            bits = [check.exposure.classes[number].exposure_bits for check in checks]
            lines.append(Line(f"{kind}, {entry.label}", places, bits, len(lines)))
    most = max(e.maximum_bits for check in last for e in check.exposure.classes)
    ticks = tuple((float(place), str(count)) for place, count in enumerate(counts))
    figure = line_chart(
        "d-exposure over insertions",
        "d-exposure in bits after the last epoch, by tagger and class.",
        Axis("insertions", 0, max(1, len(counts) - 1), ticks),
        Axis.nice("d-exposure in bits", 0, most),
        lines,
    )
    final = [c for kind in dict.fromkeys(c.tagger for c in last) for c in last_checks(study, kind)]
    table = tagger_table(final, "d-exposure after the last epoch")
    return panel(figure, table, "The more often a phrase occurs, the better it is remembered.")


def _overfitting_panel(checks: Sequence[TaggerCheck]) -> Markup:
    epochs = [check.epoch for check in checks]
    lines = [
        Line(
            entry.label,
            epochs,
            [check.exposure.classes[number].exposure_bits for check in checks],
            number,
        )
        for number, entry in enumerate(checks[0].exposure.classes)
    ]
    count = len(lines)
    lines += [
        Line("test F1 (right)", epochs, [check.f1 for check in checks], count, right=True),
        Line(
            "training F1 (right)",
            epochs,
            [check.train_f1 for check in checks],
            count + 1,
            right=True,
        ),
    ]
    most = max(entry.maximum_bits for entry in checks[0].exposure.classes)
    figure = line_chart(
        "d-exposure while a tagger overfits",
        "d-exposure in bits by class over epochs, with F1 on test and training data.",
        Axis.nice("epoch", 0, max(epochs)),
        Axis.nice("d-exposure in bits", 0, most),
        lines,
        right=Axis.nice("F1", 0, 1),
    )
    caption = (
        "A BiLSTM without dropout on a part of the data. d-exposure is not a measure of "
        "overfitting: it does not follow the gap between both F1."
    )
    return panel(figure, tagger_table(checks, "d-exposure over epochs"), caption)


def _provenance(findings: MemorisationFindings) -> Markup:
    rows = [(name, text) for name, text in findings.versions.items()]
    study = json.dumps(to_json(findings.study), indent=1, ensure_ascii=False)
    table = make_table("Versions", ("package", "version"), rows, text=(1,))
    return joined(
        [
            element("p", f"Seed {findings.seed}. Canaries and places can be repeated by the seed."),
            table.to_html(),
            folded("The study", element("pre", study, tabindex="0")),
        ]
    )
