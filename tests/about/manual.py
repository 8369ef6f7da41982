"""Manual pages: mandoc and groff find nothing wrong with any of them, and each has its sections.

usage: manual.py ATTN    exit code 77: neither mandoc nor man is installed
"""
import os
import shutil
import subprocess
import sys
import tempfile

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"]


def run(words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def main(attn):
    tools = [words for words in (["mandoc", "-T", "lint", "-W", "warning"],
                                 ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8"])
             if shutil.which(words[0])]
    if not tools:
        print("neither mandoc nor man is installed: manual pages are not checked")
        return 77
    environment = dict(os.environ, LC_ALL="C.UTF-8", MANROFFSEQ="", MANWIDTH="80", MANPAGER="cat")
    lines = run([attn, "complete", "--", ""]).stdout.splitlines()[1:]
    commands = [line.split()[0] for line in lines]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for command in [None] + commands:
            path = f"{folder}/attn{'-' + command if command else ''}.1"
            text = run([attn, "manual"] + ([command] if command else []), env=environment).stdout
            with open(path, "w") as file:
                file.write(text)
            for section in SECTIONS:
                if f"\n.SH {section}\n" not in text:
                    wrong += 1
                    print(f"{path} has no section {section}")
            for tool in tools:
                said = run(tool + [path], env=environment)
                complaints = said.stderr + (said.stdout if tool[0] == "mandoc" else "")
                if said.returncode != 0 or complaints:
                    wrong += 1
                    print(f"{tool[0]} of {path}: {complaints}")
    print(f"{1 + len(commands)} manual pages by {' and '.join(tool[0] for tool in tools)}: {wrong} complaints")
    return 1 if wrong or len(commands) < 30 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
