"""The text anonymiser: finds what is private, replaces it, and says what it did."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sottovoce.anonymise.decisions import Decision, Decisions, decided_by
from sottovoce.anonymise.keys import Secret
from sottovoce.anonymise.text.anonymised_text import (
    AnonymisedText,
    DecidedLanguage,
    ReplacedSpan,
)
from sottovoce.anonymise.text.detect import BOTH_REGISTERS
from sottovoce.anonymise.text.document_search import (
    DocumentSearch,
    OnChunk,
    search_documents,
    with_findings,
)
from sottovoce.anonymise.text.entities import PRIVATE_TYPES
from sottovoce.anonymise.text.guarantee import Guarantee
from sottovoce.anonymise.text.known_leaks import (
    CASED,
    LOWER_CASE,
    OWN_KIND,
    MissedWords,
    SampleLeak,
    WorstLeak,
    leak_on,
    worst_leak,
)
from sottovoce.anonymise.text.lexicon import MULTILINGUAL
from sottovoce.anonymise.text.line_breaks import keep_line_breaks
from sottovoce.anonymise.text.multilingual_detector import MIXED_LANGUAGES, make_detector
from sottovoce.anonymise.text.replacer import DEFAULT_STRATEGY, CorpusValues, Replacer
from sottovoce.anonymise.text.review import PERSON_RULE, Review, masked_findings, propose
from sottovoce.anonymise.text.source_text import (
    LanguageSpan,
    SourceText,
    TextReading,
    language_at,
)
from sottovoce.anonymise.text.taggers import DEFAULT_TAU, REGISTERS
from sottovoce.core.engine import HERE, Engine
from sottovoce.core.errors import UsageError


class TextAnonymiser:
    """Finds and replaces private words in texts.

    Parameters
    ----------
    lang : str, default "en"
        Language code; ``auto`` to decide the language of every sentence and use its taggers,
        ``multi`` to use the taggers for all languages.
    strategy : str, default "full"
        Name of a registered strategy: what replaces private values.
    policy : mapping of str to str, optional
        Strategies of single types, by type.
    tau : float, default 0.95
        A word is private if a tagger's P(O) is below τ; a higher τ finds more.
    scope : {"none", "utterance", "document", "corpus"}, default "document"
        Where the same value gets the same replacement.
    p : float, default 1
        Probability that a value that was found is replaced.
    types : sequence of str, optional
        Private types; by default all but MISC and SENSITIVE.
    register : {"both", "spoken", "written"}, default "both"
        Taggers of the package that are used.
    deny : mapping of str to str, optional
        Phrases that are always private, with their type.
    allow : iterable of str, optional
        Phrases that are never private, unless they are denied.
    tagger : Path or str, optional
        Another tagger, see :func:`.taggers.make_tagger`; only with the code of a language.
    propagate : bool, default True
        Search names that were found in one text in all texts of its document.
    secret : Secret, optional
        What draws depend on. By default a new one; ``Secret.reproducible(seed)`` gives draws that
        anybody who knows the seed can repeat.

    Examples
    --------
    >>> anonymiser = TextAnonymiser("en", strategy="typed")
    >>> anonymiser.transform("call ann at nine pm").text
    'call [PER] at [TIME]'
    """

    def __init__(
        self,
        lang: str = "en",
        *,
        strategy: str = DEFAULT_STRATEGY,
        policy: Mapping[str, str] | None = None,
        tau: float = DEFAULT_TAU,
        scope: str = "document",
        p: float = 1.0,
        types: Sequence[str] = PRIVATE_TYPES,
        register: str = BOTH_REGISTERS,
        deny: Mapping[str, str] | None = None,
        allow: Iterable[str] = (),
        tagger: Path | str | None = None,
        propagate: bool = True,
        secret: Secret | None = None,
    ) -> None:
        self.detector = make_detector(
            lang, tau, tuple(types), register, deny, tuple(allow), tagger, propagate
        )
        secret = secret or Secret.generate()
        self.replacer = Replacer(lang, strategy, secret, scope, p, policy or {})
        self.lang = lang
        self._texts = 0

    def transform(
        self, text: str, *, document: str | None = None, decisions: Decisions | None = None
    ) -> AnonymisedText:
        """Anonymise one text.

        Parameters
        ----------
        text : str
            The text.
        document : str, optional
            Name of its document; by default each call is a document of its own.
        decisions : Decisions, optional
            What was decided in a review of the text.
        """
        self._texts += 1
        name = f"text {self._texts}" if document is None else document
        return self.transform_all([text], [name], decisions=decisions)[0]

    def transform_all(
        self,
        texts: Sequence[str],
        documents: Sequence[str] | None = None,
        *,
        use_corpus_tables: bool = False,
        decisions: Decisions | None = None,
    ) -> list[AnonymisedText]:
        """Anonymise the texts of one corpus.

        Parameters
        ----------
        texts : sequence of str
            The texts.
        documents : sequence of str, optional
            Name of the document of each text; by default all texts are one document.
        use_corpus_tables : bool, default False
            Draw values from the texts themselves where at least five of them share a value. This
            keeps the distribution of the words and publishes those values.
        decisions : Decisions, optional
            What was decided in a review of these texts.
        """
        names = documents if documents is not None else [""] * len(texts)
        sources = [SourceText(*pair) for pair in zip(texts, names, strict=True)]
        prepared = self.prepare(
            lambda: sources, use_corpus_tables=use_corpus_tables, decisions=decisions
        )
        return list(prepared.rewrite(sources))

    def prepare(
        self,
        texts: TextReading,
        *,
        use_corpus_tables: bool = False,
        on_chunk: OnChunk | None = None,
        decisions: Decisions | None = None,
        engine: Engine = HERE,
    ) -> PreparedTexts:
        """Find what is private in the texts of one corpus, in memory that does not grow with it.

        Parameters
        ----------
        texts : callable
            Starts to read the texts; called once a pass.
        use_corpus_tables : bool, default False
            As for :meth:`transform_all`.
        on_chunk : callable, optional
            Called with the name of the pass after every chunk of the texts.
        decisions : Decisions, optional
            What was decided in a review of these texts.
        engine : Engine, optional
            What searches the texts; default this thread. Replacements are drawn here.

        Raises
        ------
        InputError
            ``mismatch`` or ``changed-text`` if the decisions are on other texts.
        """
        on_chunk = on_chunk or (lambda name: None)
        review = None if decisions is None else Review.of(texts(), decisions)
        prepared = PreparedTexts(
            self,
            search_documents(self.detector, texts, on_chunk=on_chunk, engine=engine),
            review,
        )
        tables = CorpusValues() if use_corpus_tables else None
        for i, (source, decided, languages) in enumerate(prepared.decide(texts())):
            findings = masked_findings(decided)
            self.replacer.note_persons(source.text, findings, source.document, str(i), languages)
            if tables is not None:
                tables.add(source.text, findings)
        if tables is not None:
            self.replacer.use_corpus_tables(tables.tables())
        return prepared

    def rewrite(
        self,
        text: str,
        decisions: Sequence[Decision],
        document: str,
        utterance: str,
        languages: Sequence[LanguageSpan] = (),
    ) -> AnonymisedText:
        """Replace what is private in a text.

        Parameters
        ----------
        text : str
            The text.
        decisions : sequence of Decision
            What is private in it, and what is not.
        document, utterance : str
            Names of its document and utterance, for the scope of replacements.
        languages : sequence of LanguageSpan, optional
            The languages of the text; by default that of the anonymiser.
        """
        pieces: list[str] = []
        spans: list[ReplacedSpan] = []
        done = length = 0
        for finding in masked_findings(decisions):
            original = text[finding.start : finding.end]
            lang = language_at(languages, finding.start)
            replacement = self.replacer(original, finding.kind, document, utterance, lang)
            if replacement is not None:
                replacement = keep_line_breaks(replacement, original)
            written = original if replacement is None else replacement
            pieces += [text[done : finding.start], written]
            start = length + finding.start - done
            span = ReplacedSpan(
                start=finding.start,
                end=finding.end,
                new_start=start,
                new_end=start + len(written),
                kind=finding.kind,
                rule=finding.rule,
                strategy=self.replacer.strategy_of(finding.kind),
                score=round(finding.score, 4),
                replacement=replacement,
                by="person" if finding.rule == PERSON_RULE else decided_by(finding.rule),
            )
            spans.append(span)
            length, done = span.new_end, finding.end
        pieces.append(text[done:])
        decided = _decided_languages(text, languages) if self.lang in MIXED_LANGUAGES else ()
        return AnonymisedText("".join(pieces), tuple(spans), tuple(decisions), decided)

    def guarantee(self, kind: str, *, written: bool = False) -> Guarantee | None:
        """Return what is guaranteed for text of a kind that the package's taggers were measured on.

        Parameters
        ----------
        kind : str
            Kind of text, one of :func:`.known_leaks.measured_kinds`.
        written : bool, default False
            The text has capitals, unlike ASR output.

        Returns
        -------
        Guarantee or None
            None where nothing was measured: for a tagger used instead of the package's, for one
            register alone (both together were measured), and for a very low τ.
        """
        entry = leak_on(self.lang, kind, CASED if written else LOWER_CASE)
        words = entry.at(self.detector.tau) if entry is not None else None
        if entry is None or words is None or self.detector.registers != REGISTERS:
            return None
        return self._guarantee(kind, entry.test_set, words)

    def sample_guarantee(self, sample: SampleLeak) -> Guarantee:
        """Return what is guaranteed for text like a sample that the user has labelled.

        Parameters
        ----------
        sample : SampleLeak
            What was missed in the sample.

        Raises
        ------
        UsageError
            ``mismatch`` if the sample was measured with other settings.
        """
        detector = self.detector
        tagger = None if detector.tagger is None else str(detector.tagger)
        expected = (detector.lang, detector.tau, detector.register, tuple(detector.types), tagger)
        if expected != (sample.lang, sample.tau, sample.register, sample.types, sample.tagger):
            raise UsageError(
                f"{sample.measured_on} was measured with another language, τ, register, types or "
                "tagger; repeat --evaluate with the options of this run",
                code="mismatch",
            )
        return self._guarantee(OWN_KIND, sample.measured_on, sample.words)

    def worst_leak(self, *, written: bool = False) -> WorstLeak | None:
        """Return the largest leak known of any set, for text whose kind was not measured.

        Parameters
        ----------
        written : bool, default False
            The text has capitals, unlike ASR output.

        Returns
        -------
        WorstLeak or None
            None where nothing was measured, as in :meth:`guarantee`. With ``auto`` the texts were
            measured with their language given, so that wrong decisions come on top.
        """
        if self.detector.registers != REGISTERS or self.lang == MULTILINGUAL:
            return None
        return worst_leak(CASED if written else LOWER_CASE, self.detector.tau)

    def _guarantee(self, kind: str, test_set: str, words: MissedWords) -> Guarantee:
        return Guarantee(
            strategy=self.replacer.strategy,
            probability=self.replacer.probability,
            missed=words.missed,
            total=words.total,
            effective=words.effective,
            kind=kind,
            measured_on=test_set,
            tables=self.replacer.table_sizes(self.detector.types),
        )


class PreparedTexts:
    """Texts whose private values are known; rewritten one by one, in order.

    Parameters
    ----------
    anonymiser : TextAnonymiser
        The anonymiser.
    found : DocumentSearch
        What was found in the texts.
    review : Review, optional
        What was decided in a review of the texts.
    """

    def __init__(
        self, anonymiser: TextAnonymiser, found: DocumentSearch, review: Review | None = None
    ) -> None:
        self._anonymiser = anonymiser
        self._found = found
        self._review = review
        self.passes = found.passes
        """How often the texts were searched."""

    def rewrite(self, texts: Iterable[SourceText]) -> Iterator[AnonymisedText]:
        """Yield the new texts.

        Parameters
        ----------
        texts : iterable of SourceText
            All texts, in the order in which they were searched.
        """
        for i, (source, decided, languages) in enumerate(self.decide(texts)):
            yield self._anonymiser.rewrite(source.text, decided, source.document, str(i), languages)

    def decide(
        self, texts: Iterable[SourceText]
    ) -> Iterator[tuple[SourceText, Sequence[Decision], Sequence[LanguageSpan]]]:
        """Yield the texts with what is decided on each, and their languages.

        Parameters
        ----------
        texts : iterable of SourceText
            All texts, in the order in which they were searched.
        """
        for i, (source, findings, languages) in enumerate(with_findings(texts, self._found)):
            if self._review is None:
                yield source, propose(findings), languages
            else:
                yield source, self._review.decide(i, source.text, findings), languages


def _decided_languages(text: str, languages: Sequence[LanguageSpan]) -> tuple[DecidedLanguage, ...]:
    """Return the parts of a text by language."""
    starts = (0, *(span.end for span in languages))
    return tuple(
        DecidedLanguage(
            start,
            min(span.end, len(text)),
            span.candidates[0],
            round(span.probability, 4),
            span.candidates,
        )
        for start, span in zip(starts, languages, strict=False)
    )
