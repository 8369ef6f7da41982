#!/usr/bin/env python3
"""Pages in the formats for documents, read by the programs that documents are read with.

LaTeX is compiled by pdflatex, as a part of a document and as a whole one, and nothing in it may stick out of its line.
So are pictures of TikZ.
HTML is checked by tidy, and by the W3C's checker where Java and vnu.jar (npm: vnu-jar) are there; SVG by xmllint.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HOSTILE = r"""a|b under_score R&D <i> $5 back\slash "quoted" 'single' it's comma,comma 50% #1 {x} ~ ^ `tick` naïve größe Žižek
 λόγος 😀 👩‍💻 日本語 שלום مرحبا ü ﬁ -- ,, ?` « » — … ß Ø ą ő"""

COMMANDS = [
    ["walk"],
    ["walk", "--text", "The animal didn't cross the street because it was too tired", "--heads", "2", "--causal"],
    ["walk", "--example", "padding"],
    ["walk", "--example", "two-layers"],
    ["walk", "--by-word", "Thinking"],
    ["walk", "--outline"],
    ["explain", "output[1,2]", "--depth", "9"],
    ["explain", "output[1,1]", "--text", "w " * 40],
    ["softmax", "--scores", "1 2 3; 4 -inf 6"],
    ["softmax", "--example", "animal", "--from", "it"],
    ["positions", "--n", "60", "--d-model", "24"],
    ["positions", "--n", "8", "--d-model", "64"],
    ["compare-scores"],
    ["compare-masks"],
    ["pool"],
    ["scale", "--sweep", "1,2,8"],
    ["feed-forward"],
    ["layer-norm"],
    ["encoder"],
    ["decoder"],
    ["transformer"],
    ["transformer", "--outline"],
    ["transformer", "--explain", "decoder.1.cross_attention.output[1,1]", "--depth", "4"],
    ["generate"],
    ["align"],
    ["cost"],
    ["embed", "--text", "one and one"],
    ["examples"],
    ["errata"],
    ["help"],
    ["help", "walk"],
    ["lesson", "list"],
    ["lesson", "show", "9"],
    ["version"],
]


def page(program, words, *options):
    finished = subprocess.run([program, *words, *options], capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"attn {' '.join(words)}: {finished.stderr}")
    return finished.stdout


def commands(folder):
    words = HOSTILE.split()
    tokens = folder / "hostile.json"
    tokens.write_text(json.dumps({"tokens": words + [""], "x": [[i % 3, 1] for i in range(len(words) + 1)]}))
    wide = folder / "wide.csv"
    wide.write_text("\n".join(",".join(str((i * j) % 7 - 3.25) for j in range(60)) for i in range(90)))
    return COMMANDS + [["walk", "--problem", str(tokens), "--seed", "1", "--heads", "2"], ["convert", str(wide), "-"],
                       ["walk", "--text", "x" * 300 + " " + "ab " * 30]]


def compile_latex(folder, name, text):
    (folder / f"{name}.tex").write_text(text)
    finished = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"], cwd=folder,
                              capture_output=True, text=True, errors="replace")
    log = (folder / f"{name}.log").read_text(errors="replace")
    faults, at = [], ""
    if finished.returncode != 0:
        faults.append("pdflatex: " + log[log.find("\n!"):][:600])
    for found, size in re.findall(r"^page: (.*)|Overfull \\hbox \(([\d.]+)pt too wide\)", log, re.MULTILINE):
        at = found or at
        if size and float(size) > 10.0:
            faults.append(f"{at}: a line is {size} pt too wide")
    return faults


def check_latex(program, folder, all_commands):
    """All parts in one document, and some pages as documents of their own."""
    faults = []
    for shading in [[], ["--shading"]]:
        body, needed = "", ""
        for words in all_commands:
            part = page(program, words, "--format", "latex", *shading)
            if not part.isascii():
                faults.append(f"attn {' '.join(words)[:70]}: not all of it is ASCII")
            needed = "".join(line + "\n" for line in re.findall(r"\\usepackage\S+", part.split("\n", 1)[0]))
            body += f"\\typeout{{page: attn {re.sub('[^a-z0-9 -]', '', ' '.join(words)[:60])}}}\n{part}\\clearpage\n"
        whole = f"\\documentclass{{article}}\n{needed}\\begin{{document}}\n{body}\\end{{document}}\n"
        faults += [f"all pages {shading}: {fault}" for fault in compile_latex(folder, "parts", whole)]
    for words in all_commands[::6]:
        text = page(program, words, "--format", "latex", "--standalone")
        faults += [f"attn {' '.join(words)[:70]}: {fault}" for fault in compile_latex(folder, "whole", text)]
    return faults


PICTURES = [
    ["product", "scores[1,2]"],
    ["product", "q"],
    ["explain", "output[1,2]", "--depth", "1"],
    ["explain", "head.1.weights[it,animal]", "--example", "animal"],
    ["walk", "--only", "scores|weights"],
    ["walk", "--section", "2"],
    ["walk", "--example", "padding", "--only", "weights"],
    ["walk", "--outline"],
    ["backward"],
    ["cost"],
    ["generate"],
]


def check_pictures(program, folder):
    """Pictures for slides: as documents of their own in light and dark, and as parts of one. Where the class standalone
    is not installed (Debian: texlive-latex-extra), another one stands in its place."""
    faults, body = [], ""
    found = subprocess.run(["kpsewhich", "standalone.cls"], capture_output=True).returncode == 0
    hostile = ["walk", "--problem", str(folder / "hostile.json"), "--seed", "1", "--only", "x|scores"]
    for words in [*PICTURES, hostile]:
        for theme in ["light", "dark"]:
            text = page(program, words, "--format", "tikz", "--standalone", "--theme", theme)
            if not found:
                text = text.replace("[border=4pt]{standalone}", "{article}")
            faults += [f"attn {' '.join(words)[:70]}: {theme}: {fault}"
                       for fault in compile_latex(folder, "picture", text)]
        body += "\\noindent\n" + page(program, words, "--format", "tikz") + "\\clearpage\n"
    needed = re.search(r"\\usepackage\S+", body).group()
    whole = f"\\documentclass{{article}}\n{needed}\n\\begin{{document}}\n{body}\\end{{document}}\n"
    return faults + [f"all pictures: {fault}" for fault in compile_latex(folder, "pictures", whole)]


def check_svg(program, folder):
    faults = []
    for i, words in enumerate(PICTURES):
        for theme in ["light", "dark"]:
            page(program, words, "--theme", theme, "-o", str(folder / f"drawing-{i}-{theme}.svg"))
    for words in [["positions"], ["pool"], ["transformer"], ["walk", "--outline"], ["softmax", "--example", "animal"],
                  ["walk", "--problem", str(folder / "hostile.json"), "--seed", "1", "--heads", "2"]]:
        page(program, words, "-o", str(folder / "drawing.svg"))
    files = sorted(folder.glob("drawing*.svg"))
    said = subprocess.run(["xmllint", "--noout", "--nonet", *files], capture_output=True, text=True).stderr
    return said.splitlines() + ([] if len(files) > 5 else ["there are hardly any drawings"])


def check_html(program, folder, all_commands, vnu):
    files = []
    for i, words in enumerate(all_commands):
        files.append(folder / f"{i}.html")
        files[-1].write_text(page(program, words, "--format", "html"))
    faults = []
    for words, file in zip(all_commands, files):
        said = subprocess.run(["tidy", "-q", "-e", file], capture_output=True, text=True).stderr
        faults += [f"attn {' '.join(words)}: tidy: {line}" for line in said.splitlines()
                   if '<title> proprietary attribute "id"' not in line]  # of SVG, which tidy does not know
    if vnu:
        said = subprocess.run(["java", "-jar", vnu, *files], capture_output=True, text=True).stderr
        faults += said.splitlines()
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="build/attn")
    parser.add_argument("--vnu", help="the W3C's checker, as a .jar")
    parser.add_argument("--only", help="latex or html")
    options = parser.parse_args()
    program = str(pathlib.Path(options.program).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tried = commands(folder)
        faults = []
        if options.only != "html":
            faults += check_latex(program, folder, tried) + check_pictures(program, folder)
        if options.only != "latex":
            faults += check_html(program, folder, tried, options.vnu) + check_svg(program, folder)
    print("\n".join(faults) or f"{len(tried)} pages: LaTeX, HTML and SVG are read without a fault")
    sys.exit(bool(faults))


main()
