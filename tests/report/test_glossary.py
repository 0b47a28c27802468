"""Terms open their explanations, and every explanation is there once."""

from __future__ import annotations

import re

from sottovoce.report.glossary import ENTRIES, explained, glossary_section


def test_a_term_is_a_button_where_it_first_occurs() -> None:
    text = explained("The EER, and again the EER & <b>")
    assert text == (
        'The <button type="button" class="term" popovertarget="term-eer">EER</button>, and again '
        "the EER &amp; &lt;b&gt;"
    )


def test_the_longest_spelling_wins_and_parts_of_words_do_not_count() -> None:
    assert re.findall('popovertarget="term-([^"]*)"', explained("the semi-informed one")) == [
        "semi-informed"
    ]
    assert "button" not in explained("misinformed WERE unintervals")


def test_every_button_has_its_explanation() -> None:
    section = glossary_section()
    for entry in ENTRIES:
        assert section.count(f'id="term-{entry.key}"') == 1
        for spelling in (entry.term, *entry.spellings):
            assert f'popovertarget="term-{entry.key}"' in explained(f"({spelling})")
    assert section.count(" popover>") == len(ENTRIES)
