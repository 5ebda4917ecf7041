"""Delimited text: encodings, line ends, delimiters, quotes, comments, headers."""

from __future__ import annotations

import bz2
import gzip

import pyarrow as pa

from .case import Group
from .making import IDS, NUMBERS, edges, features, labels, text

group = Group("text")
good, bad = group.good, group.bad
PLAIN = text(edges())
WORDS = ["ada", "bob", "cy", "dee", "eve", "fay", "gus", "hal"]
BOUGHT = {"user": IDS, "item": [f"item{i}" for i in NUMBERS]}
NAMED = "edges: source -> target"
NO_NAMES = "edges: 1 -> 2"


def _zstd(content: str) -> bytes:
    return pa.compress(content.encode(), codec="zstd", asbytes=True)


# Encodings and marks.
good("utf8", {"e.csv": PLAIN}, NAMED, counts=(24, 48, 0))
good("utf8-bom", {"e.csv": b"\xef\xbb\xbf" + PLAIN.encode()}, NAMED, counts=(24, 48))
good(
    "utf8-bom-without-header",
    {"e.csv": b"\xef\xbb\xbf" + text(edges(NUMBERS), header=False).encode()},
    NO_NAMES,
    counts=(24, 48),
)
good(
    "utf8-bom-before-a-comment",
    {"e.csv": b"\xef\xbb\xbf# made by hand\n" + PLAIN.encode()},
    NAMED,
    counts=(24, 48),
)
good(
    "accents", {"e.csv": text(edges(["é", "ü", "ß", "ø", "ł", "ñ", "ç1", "å"]))}, NAMED
)
good("chinese", {"e.csv": text(edges(list("甲乙丙丁戊己庚辛")))}, NAMED, counts=(8, 16))
for name, encoding, says in (
    ("utf16-bom", "utf-16", "UTF-16"),
    ("utf16-le", "utf-16-le", "UTF-16"),
    ("utf16-be", "utf-16-be", "UTF-16"),
    ("utf32-bom", "utf-32", "UTF-32"),
    ("utf32-be", "utf-32-be", "UTF-32"),
):
    bad(name, {"e.csv": PLAIN.encode(encoding)}, "e.csv", says, "iconv")
latin = text(edges(["Zoé", *IDS])).encode("latin-1")
bad("latin1-ids", {"e.csv": latin}, "e.csv", "UTF-8", "iconv")
bad(
    "shift-jis", {"e.csv": text(edges(list("東京都大阪"))).encode("shift-jis")}, "e.csv"
)
bad("nul-bytes", {"e.csv": PLAIN.replace("n03", "n\x0003")}, "e.csv", "zero")
good(
    "latin1-in-a-column-that-is-not-read",
    {"e.csv": text(edges(note=["café"])).encode("latin-1")},
    "ignored: note",
    counts=(24, 48),
)

# Line ends.
for name, end in (("crlf", "\r\n"), ("cr", "\r"), ("lf", "\n")):
    good(f"line-ends-{name}", {"e.csv": text(edges(), end=end)}, NAMED, counts=(24, 48))
    good(
        f"no-end-of-the-last-line-{name}",
        {"e.csv": text(edges(), end=end, last=False)},
        NAMED,
        counts=(24, 48),
    )
good("blank-lines-at-the-end", {"e.csv": PLAIN + "\n\n\n"}, NAMED, counts=(24, 48))
good("blank-lines-at-the-top", {"e.csv": "\n\n" + PLAIN}, NAMED, counts=(24, 48))
good(
    "blank-lines-between",
    {"e.csv": PLAIN.replace("\n", "\n\n")},
    NAMED,
    counts=(24, 48),
)
good(
    "mixed-line-ends", {"e.csv": PLAIN.replace("\n", "\r\n", 9)}, NAMED, counts=(24, 48)
)

# Delimiters.
for name, sep, file in (
    ("comma", ",", "e.csv"),
    ("semicolon", ";", "e.csv"),
    ("tab", "\t", "e.csv"),
    ("pipe", "|", "e.csv"),
    ("tab-tsv", "\t", "e.tsv"),
    ("blank", " ", "e.txt"),
    ("tab-txt", "\t", "e.txt"),
    ("comma-txt", ",", "e.txt"),
    ("blank-edges", " ", "e.edges"),
    ("blank-edgelist", " ", "e.edgelist"),
    ("semicolon-without-suffix", ";", "edges"),
):
    good(f"delimiter-{name}", {file: text(edges(), sep)}, NAMED, counts=(24, 48))
good(
    "blanks-around-cells",
    {"e.csv": PLAIN.replace(",", " , ")},
    NAMED,
    counts=(24, 48),
)
good(
    "semicolon-and-decimal-points",
    {"e.csv": text(edges(), ";"), "x.csv": text(features(), ";")},
    "features: 2 columns by id",
    counts=(24, 48, 2),
)
bad("tsv-that-has-commas", {"e.tsv": PLAIN}, "e.tsv", "columns")
good(
    "two-blanks-between",
    {"e.txt": text(edges(), "  ")},
    "edges: source -> target; ignored: (without a name)",
    counts=(24, 48),
)
bad("one-column", {"e.csv": "source\n" + "\n".join(IDS)}, "e.csv", "two columns")

# Quotes.
good("quoted", {"e.csv": text(edges(), quote='"')}, NAMED, counts=(24, 48))
commas = ["Smith, Ann", "Lee, Bo", "Roe, Cy", "Poe, Di", "Fox, Ed", "Day, Flo"]
good(
    "comma-in-quotes", {"e.csv": text(edges(commas), quote='"')}, NAMED, counts=(6, 12)
)
lines = [name.replace(", ", "\n") for name in commas]
good(
    "newline-in-quotes", {"e.csv": text(edges(lines), quote='"')}, NAMED, counts=(6, 12)
)
doubled = [f'a ""{i}"" b' for i in range(6)]
good(
    "doubled-quotes", {"e.csv": text(edges(doubled), quote='"')}, NAMED, counts=(6, 12)
)
good(
    "quoted-header",
    {"e.csv": '"source","target"\n' + text(edges(), header=False)},
    NAMED,
    counts=(24, 48),
)
good(
    "header-over-two-lines",
    {"e.csv": '"source","target","a\nnote"\n' + text(edges(note=["x"]), header=False)},
    "ignored: a note",
    counts=(24, 48),
)
bad(
    "quote-that-never-closes",
    {"e.csv": PLAIN.replace("n05", '"n05', 1)},
    "e.csv",
    "quote",
)
bad(
    "quote-that-never-closes-in-a-column-that-is-not-read",
    {"e.csv": text(edges(note=["x"])).replace(",x", ',"x', 1)},
    "e.csv",
    "quote",
)
good(
    "quotes-within-cells",
    {"e.csv": text(edges(['5" disk', '3" disk', "cd", "dvd", "tape", "drum"]))},
    NAMED,
    counts=(6, 12),
)

# Comments.
good("comments", {"e.csv": "# first\n# second\n" + PLAIN}, NAMED, counts=(24, 48))
good(
    "comments-percent",
    {"e.txt": "% mtx\n" + text(edges(), " ")},
    NAMED,
    counts=(24, 48),
)
snap = "# Directed graph\n# FromNodeId\tToNodeId\n"
good(
    "snap",
    {"e.txt": snap + text(edges(NUMBERS), "\t", header=False)},
    NO_NAMES,
    counts=(24, 48),
)
bad("only-comments", {"e.csv": "# one\n# two\n"}, "e.csv", "rows")
bad("only-blank-lines", {"e.csv": "\n\n\n"}, "e.csv", "rows")
good(
    "ids-that-begin-with-a-hash",
    {"e.csv": text(edges([f"#{i}" for i in range(8)]), header=False)},
    NO_NAMES,
    counts=(8, 16),
)

# Headers.
for names in (
    ("from", "to"),
    ("src", "dst"),
    ("Source_ID", "Target_ID"),
    ("payer_id", "payee_id"),
    ("SENDER", "RECEIVER"),
    ("u", "v"),
    ("citing", "cited"),
    ("follower", "followee"),
):
    good(
        f"header-{names[0]}-{names[1]}",
        {"e.csv": text(edges(WORDS, names))},
        f"edges: {names[0]} -> {names[1]}",
        counts=(8, 16),
    )
good(
    "header-unknown-words-above-numbers",
    {"e.csv": text(edges(NUMBERS, ("left", "right")))},
    "edges: left -> right",
    counts=(24, 48),
)
good(
    "header-unknown-words-above-digits",
    {"e.csv": text(edges(IDS, ("left", "right")))},
    "edges: left -> right",
    counts=(24, 48),
)
good(
    "header-user-item-event",
    {"e.csv": text({**BOUGHT, "event": ["view", "buy"] * 12})},
    "edges: user -> item; ignored: event",
    counts=(48, 24),
)
good(
    "header-user-item", {"e.csv": text(BOUGHT)}, "edges: user -> item", counts=(48, 24)
)
bad(
    "header-user-item-of-shared-ids",
    {"e.csv": text(edges(IDS, ("user", "item")))},
    "'user'",
    "'item'",
    "--shared-ids",
)
good(
    "header-user-item-of-shared-ids-said",
    {"e.csv": text(edges(IDS, ("user", "item")))},
    "edges: user -> item",
    more="--shared-ids",
    counts=(24, 48),
)
bad(
    "header-ambiguous",
    {"e.csv": text(edges(WORDS, ("left", "right")))},
    "e.csv",
    "'left'",
    "--header",
    "--no-header",
)
good(
    "header-ambiguous-said",
    {"e.csv": text(edges(WORDS, ("left", "right")))},
    "edges: left -> right",
    more="--header",
    counts=(8, 16),
)
good(
    "header-ambiguous-denied",
    {"e.csv": text(edges(WORDS, ("left", "right")))},
    NO_NAMES,
    more="--no-header",
    counts=(10, 17),
)
good(
    "no-header-numbers",
    {"e.csv": text(edges(NUMBERS), header=False)},
    NO_NAMES,
    counts=(24, 48),
)
good(
    "no-header-first-row-comes-again",
    {"e.csv": text(edges(WORDS), header=False)},
    NO_NAMES,
    counts=(8, 16),
)
good(
    "no-header-ids-with-digits",
    {"e.csv": text(edges(IDS), header=False)},
    NO_NAMES,
    counts=(24, 48),
)
bad(
    "denied-header-above-numbers",
    {"e.csv": text(edges(NUMBERS)), "x.csv": text(features(NUMBERS))},
    "x.csv",
    "'a' in row 1",
    more="--no-header",
)
good(
    "named-column-means-a-header",
    {"e.csv": text(edges(WORDS, ("left", "right")))},
    "edges: left -> right",
    more="--source-column left",
    counts=(8, 16),
)
good(
    "weight-in-a-third-column-without-header",
    {"e.csv": text(edges(NUMBERS, w=[1.5, 2.5]), header=False)},
    "edges: 1 -> 2; ignored: 3",
    counts=(24, 48),
)
good(
    "weight-by-number-without-header",
    {"e.csv": text(edges(NUMBERS, w=[1.5, 2.5]), header=False)},
    "edges: 1 -> 2, weight 3",
    more="--weight-column 3",
    counts=(24, 48),
)
good(
    "labels-header-customer-risk",
    {
        "e.csv": text(edges(NUMBERS)),
        "y.csv": text(labels(NUMBERS, names=("customer_id", "risk"))),
    },
    "labels: risk by customer_id, 3 classes",
    counts=(24, 48),
)
good(
    "features-header-numbers-of-pandas",
    {
        "e.csv": text(edges(NUMBERS)),
        "x.csv": ",0,1\n" + text(features(NUMBERS), header=False),
    },
    "features: 2 columns",
    counts=(24, 48, 2),
)

# Rows and sizes.
bad("empty", {"e.csv": ""}, "e.csv", "empty")
bad("only-a-blank", {"e.csv": " "}, "e.csv")
bad("only-a-newline", {"e.csv": "\n"}, "e.csv", "rows")
bad("only-a-header", {"e.csv": "source,target\n"}, "e.csv", "rows")
bad("one-row-with-header", {"e.csv": "source,target\na,a\n"}, "e.csv")
good("one-row", {"e.csv": "source,target\na,b\n"}, NAMED, counts=(2, 1))
good("one-row-without-header", {"e.csv": "1,2\n"}, NO_NAMES, counts=(2, 1))
bad("too-many-values", {"e.csv": PLAIN + "a,b,c\n"}, "e.csv", "row 49", "3 values")
bad("too-few-values", {"e.csv": PLAIN + "a\n"}, "e.csv", "1 values")
bad("ragged-features", {"e.csv": PLAIN, "x.csv": text(features()) + "n99,1\n"}, "x.csv")
bad(
    "ragged-header",
    {"e.csv": "source,target\n" + text(edges(w=[1]), header=False)},
    "e.csv",
)
good(
    "a-long-cell",
    {"e.csv": text(edges([*IDS, "x" * 100_000]))},
    NAMED,
    counts=(25, 50),
)
bad("a-cell-too-long", {"e.csv": text(edges([*IDS, "x" * 200_000]))}, "e.csv")
good(
    "many-columns",
    {
        "e.csv": PLAIN,
        "x.csv": text({"id": IDS, **{f"f{k}": NUMBERS for k in range(500)}}),
    },
    "features: 500 columns by id",
    counts=(24, 48, 500),
)

# Packed.
good("gz", {"e.csv.gz": gzip.compress(PLAIN.encode(), mtime=0)}, NAMED, counts=(24, 48))
good("bz2", {"e.csv.bz2": bz2.compress(PLAIN.encode())}, NAMED, counts=(24, 48))
good("zst", {"e.csv.zst": _zstd(PLAIN)}, NAMED, counts=(24, 48))
bad(
    "gz-cut-off", {"e.csv.gz": gzip.compress(PLAIN.encode(), mtime=0)[:-20]}, "e.csv.gz"
)
bad("gz-of-nothing", {"e.csv.gz": gzip.compress(b"", mtime=0)}, "e.csv.gz", "rows")
bad("gz-that-is-none", {"e.csv.gz": PLAIN}, "e.csv.gz")
bad("gz-of-utf16", {"e.csv.gz": gzip.compress(PLAIN.encode("utf-16"))}, "UTF-16")
bad("gz-of-gz", {"e.csv.gz": gzip.compress(gzip.compress(PLAIN.encode()))}, "e.csv.gz")
