#!/usr/bin/env python3
"""Writes the prose of the lessons as plain text, a paragraph on each line: what `attn train text` learns from without a file.
The text that is compiled in, lessons/models/08-course.txt, is what this made of the lessons once; new lessons do not change it."""
import pathlib
import re
import sys

folder = pathlib.Path(__file__).resolve().parents[2] / "lessons"
pages = sorted(folder.glob("[0-9]*.md")) + sorted(folder.glob("errata/*.md"))
asked = ("ask", "predict", "because", "hint", "wrong")


def question(block):
    """What a question says, as paragraphs: what it asks, its hints and what it answers."""
    for key, value in re.findall(r"^(\w+): (.*(?:\n .*)*)", block[1], flags=re.M):
        if key in asked:
            yield value.split("=> ")[-1] if key == "wrong" else value


def prose(markdown):
    """The paragraphs, the items of lists and the questions: no front matter, no output, no headings, no tables."""
    markdown = re.sub(r"\A---\n.*?\n---\n", "", markdown, flags=re.S)
    markdown = re.sub(r"^```question\n(.*?)^```$", lambda block: "\n\n".join(question(block)), markdown,
                      flags=re.S | re.M)
    markdown = re.sub(r"^(`{3,}|~{3,}).*?^\1[ ]*$", "", markdown, flags=re.S | re.M)
    markdown = re.sub(r"<!--.*?-->", "", markdown, flags=re.S)
    for paragraph in re.split(r"\n\s*\n", markdown):
        lines = paragraph.strip().splitlines()
        if not lines or lines[0].startswith(("#", "|", "***", "![", ">")):
            continue
        text = " ".join(line.strip() for line in lines)
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
        text = re.sub(r"`([^`]*)`", r"\1", text).replace("**", "")
        text = re.sub(r"(?<![\w*])\*([^*]+)\*(?![\w*])", r"\1", text)
        for item in re.split(r"(?:^| )[-*] (?=[A-Z])", text):
            if item.strip():
                yield re.sub(r"\s+", " ", item.strip())


sys.stdout.write("".join(paragraph + "\n" for page in pages for paragraph in prose(page.read_text())))
