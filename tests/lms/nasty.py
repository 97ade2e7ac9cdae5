"""Names, ids, titles and scores as they are not in examples and are in courses."""

from __future__ import annotations

from hypothesis import strategies as st

KNOWN_NAMES = (
    "Ruiz, Ana",
    "O'Hara, Ana María",
    "O\N{RIGHT SINGLE QUOTATION MARK}Hara, Ana",
    "Müller, Jean-Luc",
    "Mu\N{COMBINING DIAERESIS}ller, Jean-Luc",
    "Smith-Jones, Mary-Ann",
    "Plato",
    "Tan_7, Wei",
    "x_99_y, Bo",
    "李, 小龙",
    "Nguyễn, Thị Ánh",
    "\N{RIGHT-TO-LEFT MARK}דנה, כהן",
    '=HYPERLINK("http://spy.test")',
    "=1+1",
    "+1, Plus",
    "-2, Minus",
    "@SUM(A1)",
    "\tTab, Ted",
    'Quote "Q", Al',
    'Ends in a quote"',
    '"',
    "Back\\slash\\",
    'Both \\"',
    "semi; colon; a; b; c; d; e; f; g",
    "a,b,c,d,e,f,g,h",
    " spaces, around ",
    "Line\nbreak",
    "Carriage\rreturn",
    "Both\r\nof them",
    "No\N{NO-BREAK SPACE}break",
    "Points Possible, Penny",
    "    Points Possible",
    "Final Grade Project",
    "Current Score, Curt",
    "Override Status",
    "Student, Test",
    "Student",
    "ID",
    "Section",
    "EX",
    "N/A",
    "1,234",
    "1.2.3",
    "<script>alert(1)</script>",
    "\N{FULLWIDTH DIGIT ONE}\N{FULLWIDTH DIGIT TWO}",
    "x" * 300,
)
CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0")
NAMES = st.one_of(
    st.sampled_from(KNOWN_NAMES),
    st.text(CHARACTERS, min_size=1, max_size=12).filter(lambda text: text.strip() != ""),
)
"""What people, assignments and sections are called."""

TEXTS = st.one_of(
    st.just(""),
    st.sampled_from(
        ["S0001", "007", "2024.001.17", "12abc", "2024-001", "9007199254740993", "=cmd", "aruiz"]
    ),
    NAMES,
)
"""Ids that a school gives, and everything else that may be empty."""

POINTS = st.decimals(0, 10, places=2) | st.decimals(1000, 20_000, places=2)
"""Scores with two decimals, mostly of ten."""
