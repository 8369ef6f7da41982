#!/usr/bin/env python3
"""Hostile words go through every format, and the parser of each format reads the same words back.

    words.py ATTN

A word may be anything: a sign that means something to a format, nothing at all, signs that turn what follows around,
and commands for a terminal. Formats that are made to be read by people show the signs that cannot be shown as U+FFFD;
formats for programs keep them. The same page is written twice, and its bytes must be the same.
"""
import csv
import html.parser
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

WORDS = ["|", "_a_", "&amp;", "<b>", "$x$", "\\", "\"q'", "a,b", "\N{GRINNING FACE}", "", "\u05e9\u05dc\u05d5\u05dd",
         "a\x07\x1b[31mb", "a b", "-->", "`c`", "# h", "\u202eabc", "=1+1", "</script>", "]]>", "100 %", "~^{}", "a\tb"]
UNSHOWN = {"\x07", "\x1b", "\u202e", "\t"}


def shown(word):
    return "".join("\ufffd" if sign in UNSHOWN else sign for sign in word)


class Tables(html.parser.HTMLParser):
    """The tables of a page: of each the cells of its rows."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.cell = [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][-1].append("")
            self.cell = True

    def handle_endtag(self, tag):
        if tag in ("th", "td"):
            self.cell = None

    def handle_data(self, text):
        if self.cell:
            self.tables[-1][-1][-1] += text


def words_of_table(rows):
    """The words beside and above the numbers, as far as there are numbers: a last column may be their sum."""
    return [row[0] for row in rows[1:]], rows[0][1:1 + len(WORDS)]


def of_html(text):
    return words_of_table(Tables(text).tables[0])


def of_markdown(text):
    return of_html(subprocess.run(["cmark-gfm", "-e", "table"], input=text, capture_output=True, check=True, text=True,
                                  encoding="utf-8").stdout)


def of_json(text):
    node = json.loads(text)["nodes"][0]
    return node["rows"]["labels"], node["columns"]["labels"]


def without_apostrophe(word):
    """What a spreadsheet would compute has an apostrophe before it, which is no part of the word."""
    return word[1:] if len(word) > 1 and word[0] == "'" and word[1] in "=+-@\t\r" else word


def of_separated(separator):
    def read(text):
        rows, columns = words_of_table(list(csv.reader(io.StringIO(text, newline=""), delimiter=separator)))
        return [without_apostrophe(word) for word in rows], [without_apostrophe(word) for word in columns]
    return read


def of_svg(text):
    """The words of the rows, which stand below a formula with its shapes and a caption. A drawing has no room for words
    above so many columns."""
    texts = ["".join(node.itertext()) for node in xml.etree.ElementTree.fromstring(text).iter()
             if node.tag.endswith("}text")]
    words = texts[3:3 + len([word for word in WORDS if word])]
    words.insert(WORDS.index(""), "")  # an empty word is not written
    return words, None


# Of each format its reader, and whether it keeps what cannot be shown.
READERS = {
    "markdown": (of_markdown, False),
    "html": (of_html, False),
    "svg": (of_svg, False),
    "json": (of_json, True),
    "csv": (of_separated(","), True),
    "tsv": (of_separated("\t"), True),
}


def main():
    program = sys.argv[1]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        problem = pathlib.Path(folder) / "problem.json"
        n = len(WORDS)
        problem.write_text(json.dumps({"tokens": WORDS, "key_tokens": WORDS,
                                       "scores": [[(7 * i + 3 * j) % 11 for j in range(n)] for i in range(n)]}))
        for name, (read, keeps) in READERS.items():
            line = [program, "softmax", "--problem", str(problem), "--only", "weights", "--format", name]
            first, second = (subprocess.run(line, capture_output=True, check=True).stdout for _ in range(2))
            rows, columns = read(first.decode("utf-8"))
            expected = WORDS if keeps else [shown(word) for word in WORDS]
            for what, words in (("rows", rows), ("columns", columns)):
                if words is None:
                    continue
                for wanted, word in zip(expected, words):
                    if wanted != word:
                        print(f"{name}: {what}: {wanted!r} came back as {word!r}")
                        failed += 1
                if len(words) != n:
                    print(f"{name}: {len(words)} {what} came back")
                    failed += 1
            if first != second:
                print(f"{name}: written twice, the bytes are not the same")
                failed += 1
    print(f"{len(WORDS)} words through {len(READERS)} formats, {failed} wrong")
    return 1 if failed else 0


sys.exit(main())
