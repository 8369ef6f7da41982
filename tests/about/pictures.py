"""Pictures of the terminal in the documents: SVG files of what commands print, with their colors.

A picture in a document follows a comment that says what it shows; its file lies below the document's folder:

    <!-- picture lines=1-20: attn softmax -->
    ![what it is](pictures/softmax.svg)

Several such comments show commands one after the other. A command that draws a picture itself, as attn explore does with
--picture or --recording, is given any name for it.

usage: pictures.py ATTN            fails if a picture is not what its command prints now
       pictures.py --update ATTN   draws them anew
"""
import glob
import html
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SHOWN = r"<!-- picture(?: lines=(\d+)-(\d+))?: (attn .*) -->\n"
PICTURE = re.compile(rf"((?:{SHOWN})+)!\[[^\]]*\]\(([^)]+\.svg)\)")
WIDTH = 80
# Pixels: of a character, of a line, around the text, and of the bar of the window.
CHARACTER, LINE, MARGIN, BAR = 8, 18, 16, 28
GROUND, INK, DIM, PROMPT = "#10141a", "#d8dee9", "#8a94a3", "#7ec699"
SIXTEEN = ["#000000", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9"]


def painted(line):
    """The runs of a line: (text, ink, ground, face)."""
    ink, ground, face = INK, None, ""
    for piece in re.split(r"(\x1b\[[0-9;]*m)", line):
        codes = re.fullmatch(r"\x1b\[([0-9;]*)m", piece)
        if not codes:
            if piece:
                yield piece, ink, ground, face
            continue
        numbers = [int(number or 0) for number in codes[1].split(";")]
        while numbers:
            code = numbers.pop(0)
            if code == 0:
                ink, ground, face = INK, None, ""
            elif code in (1, 3):
                face = ' font-weight="bold"' if code == 1 else ' font-style="italic"'
            elif code == 2:
                ink = DIM
            elif 30 <= code <= 37:
                ink = SIXTEEN[code - 30]
            elif code in (38, 48) and numbers[:1] == [2]:
                color = "#%02x%02x%02x" % tuple(numbers[1:4])
                del numbers[:4]
                ink, ground = (color, ground) if code == 38 else (ink, color)
            else:
                raise ValueError(f"a picture cannot show the code {code} in {line!r}")


def drawn(outputs):
    """A terminal of WIDTH columns that shows commands and the lines that each printed. It has its own ground, so that it
    is readable on light and on dark pages."""
    shown = []
    for command, lines in outputs:
        prompt = [("$ ", PROMPT, None, ""), (command, INK, None, ' font-weight="bold"')]
        shown += ([[]] if shown else []) + [prompt] + [list(painted(line)) for line in lines]
    width, height = WIDTH * CHARACTER + 2 * MARGIN, BAR + len(shown) * LINE + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="13.3"'
        f' role="img"><title>{html.escape("; ".join(command for command, _ in outputs))}</title>',
        f'<rect width="{width}" height="{height}" rx="8" fill="{GROUND}"/>',
    ]
    parts += [f'<circle cx="{MARGIN + 6 + 18 * i}" cy="{BAR / 2:g}" r="5" fill="{color}"/>'
              for i, color in enumerate(["#e06c75", "#e5c07b", "#98c379"])]
    for number, runs in enumerate(shown):
        column, top = 0, BAR + number * LINE
        for text, ink, ground, face in runs:
            x, long = MARGIN + column * CHARACTER, len(text) * CHARACTER
            column += len(text)
            if ground:
                parts.append(f'<rect x="{x}" y="{top}" width="{long}" height="{LINE}" fill="{ground}"/>')
            words = text.strip(" ")
            if not words:
                continue
            x += (len(text) - len(text.lstrip(" "))) * CHARACTER
            parts.append(f'<text x="{x}" y="{top + 13}" textLength="{len(words) * CHARACTER}" xml:space="preserve"'
                         f' fill="{ink}"{face}>'
                         f'{html.escape(words, quote=False)}</text>')
    return "\n".join(parts + ["</svg>\n"])


def printed(attn, command):
    environment = {"LC_ALL": "C.UTF-8", "COLORTERM": "truecolor", "TERM": "xterm-256color", "HOME": "/nonexistent"}
    words = shlex.split(command)[1:] + ["--color", "always", "--theme", "dark", "--width", str(WIDTH)]
    return subprocess.run([attn] + words, env=environment, stdout=subprocess.PIPE, check=True,
                          text=True).stdout.splitlines()


def drawn_by_attn(attn, command):
    """What the command draws itself; None: it prints."""
    words = shlex.split(command)[1:]
    for option in ("--picture", "--recording"):
        if option in words:
            with tempfile.TemporaryDirectory() as folder:
                words[words.index(option) + 1] = path = os.path.join(folder, "picture.svg")
                subprocess.run([attn] + words, stdout=subprocess.DEVNULL, check=True)
                return pathlib.Path(path).read_text(encoding="utf-8")
    return None


def main(update, attn):
    wanted, wrong = set(), 0
    for document in sorted(glob.glob(os.path.join(ROOT, "*.md")) + glob.glob(os.path.join(ROOT, "docs", "*.md"))):
        with open(document, encoding="utf-8") as file:
            pictures = PICTURE.findall(file.read())
        for comments, *_, name in pictures:
            own = drawn_by_attn(attn, re.findall(SHOWN, comments)[0][2])
            outputs = []
            for first, last, command in re.findall(SHOWN, comments):
                lines = printed(attn, command) if own is None else []
                outputs.append((command, lines[int(first) - 1:int(last)] if first else lines))
            path = os.path.join(os.path.dirname(document), name)
            wanted.add(os.path.normpath(path))
            picture = own or drawn(outputs)
            if update:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(picture)
                continue
            try:
                with open(path, encoding="utf-8") as file:
                    is_current = file.read() == picture
            except FileNotFoundError:
                is_current = False
            if not is_current:
                wrong += 1
                print(f"{name} is not what {outputs[0][0]} prints now: run tests/about/pictures.py --update build/attn")
    # Pictures that attn draws itself are outputs of blocks, which `attn docs check` looks at.
    stored = {os.path.normpath(path) for path in glob.glob(os.path.join(ROOT, "docs", "pictures", "*.svg"))
              if not pathlib.Path(path).read_text(encoding="utf-8").startswith("<!-- drawn by attn -->")}
    for path in sorted(stored - wanted):
        wrong += 1
        print(f"{path} is shown by no document")
    print(f"{len(wanted)} pictures, {wrong} complaints")
    return 1 if wrong or not wanted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] == "--update", sys.argv[-1]))
