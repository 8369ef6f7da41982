"""Completions in a real shell: keys are typed at a terminal, and the words that attn then gets are compared.

usage: completions.py SHELL ATTN    exit code 77: the shell is not installed
"""
import concurrent.futures
import os
import shutil
import sys
import tempfile

from terminal import Shell

# What is typed before Enter, where \t is the Tab key, and the words that attn gets.
TYPED = [
    ("attn wa\t", ["walk"]),
    ("attn expla\t", ["explain"]),
    ("attn walk --format mark\t", ["walk", "--format", "markdown"]),
    ("attn walk --format=js\t", ["walk", "--format=json"]),
    ("attn walk --by-w\tThinking", ["walk", "--by-word", "Thinking"]),
    ("attn walk --example ani\t--caus\t", ["walk", "--example", "animal", "--causal"]),
    ("attn examples two-l\t", ["examples", "two-layers"]),
    ("attn lesson ru\tsoftmax-a\t", ["lesson", "run", "softmax-and-scaling"]),
    ("attn docs che\tnot\t", ["docs", "check", "notes.md"]),
    ("attn help enc\t", ["help", "encoder"]),
    ("attn help envi\t", ["help", "environment"]),
    ("attn generate --model cop\t", ["generate", "--model", "copy"]),
    ("attn walk --random nu\t", ["walk", "--random", "numpy"]),
    ("attn walk --x que\t", ["walk", "--x", "queries.csv"]),
    ("attn walk --x 'my q\t", ["walk", "--x", "my queries.csv"]),
    ("attn walk --example animal --only head.2.wei\t", ["walk", "--example", "animal", "--only", "head.2.weights"]),
    ("attn encoder --size base --only encoder.6.feed_forward.rec\t",
     ["encoder", "--size", "base", "--only", "encoder.6.feed_forward.rectified"]),
    ("attn walk --only 'scaled|wei\t", ["walk", "--only", "scaled|weights"]),
    ("attn explain 'scal\tTh\tMa\t", ["explain", "scaled[Thinking,Machines]"]),
    ("attn completion fi\t", ["completion", "fish"]),
    ("attn explain weights\tM\tT\t", ["explain", "weights[Machines,Thinking]"]),
]
# What Tab lists where several words may come.
LISTED = [
    ("attn walk --theme \t\t", ["dark", "light", "auto"]),
    ("attn docs \t\t", ["update", "check", "clean"]),
    ("attn explain \t\t", ["scores[", "output["]),
]

# Enter writes down the words; the completions ask the program itself.
WRAPPER = """#!/bin/sh
case "$1" in
  complete) exec '{attn}' "$@" ;;
esac
printf '%s\\0' "$@" > '{folder}/words.new' && mv '{folder}/words.new' '{folder}/words'
"""
STARTS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source <({attn} completion bash)"),
    "zsh": (["zsh", "-f", "-i"], "autoload -Uz compinit; compinit -u -D; source <({attn} completion zsh)"),
    "fish": (["fish", "--no-config", "-i"], "{attn} completion fish | source"),
}


# Shells wait for keys most of the time: each types a part of the lines, beside the others.
BESIDE_EACH_OTHER = 4


def complete(name, attn, typed, listed):
    """What is wrong in a shell of its own, a sentence each."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/bin")
        with open(f"{folder}/bin/attn", "w") as file:
            file.write(WRAPPER.format(attn=os.path.abspath(attn), folder=folder))
        os.chmod(f"{folder}/bin/attn", 0o755)
        os.mkdir(f"{folder}/work")
        for path in ("queries.csv", "my queries.csv", "notes.md"):
            with open(f"{folder}/work/{path}", "w") as file:
                file.write("1,2\n")
        environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "HOME": folder, "TERM": "xterm-256color",
                       "LC_ALL": "C.UTF-8", "PS1": "> "}
        words, start = STARTS[name]
        shell = Shell(words, environment, f"{folder}/work")
        shell.read(1.0)
        record = f"{folder}/words"

        def pause(seconds):
            """Between keys as between those of people: zsh and fish take what comes at once for pasted."""
            if name != "bash":
                shell.read(seconds)

        def run(keys):
            """The words that attn gets when Enter follows."""
            if os.path.exists(record):
                os.remove(record)
            for part in keys.replace("\t", "\x00\t\x00").split("\x00"):
                shell.type(part)
                pause(0.4 if part == "\t" else 0.05)
            shell.type("\r")
            if not shell.until(lambda: os.path.exists(record)):
                return None
            with open(record) as file:
                return file.read().split("\0")[:-1]

        shell.type(start.format(attn=os.path.abspath(attn)) + "\r")
        shell.read(1.0)
        for keys, expected in typed:
            got = run(keys)
            if got != expected:
                wrong.append(f"{name}: {keys!r} gives {got}, not {expected}\n{shell.text()[-800:]}")
                shell.type("\x03")
                shell.read(0.3)
            shell.shown = ""
        for keys, expected in listed:
            shell.type(keys[:-2])
            pause(0.1)
            shell.shown = ""
            for key in keys[-2:]:
                shell.type(key)
                pause(0.5)
            shell.until(lambda: all(word in shell.text() for word in expected))
            missing = [word for word in expected if word not in shell.text()]
            if missing:
                wrong.append(f"{name}: {keys!r} does not list {missing}: {shell.text()!r}")
            shell.type("\x03")
            shell.read(0.3)
        shell.close()
    return wrong


def main(name, attn):
    if not shutil.which(name):
        print(f"{name} is not installed: its completions are not tested")
        return 77
    with concurrent.futures.ProcessPoolExecutor(BESIDE_EACH_OTHER) as shells:
        parts = [shells.submit(complete, name, attn, TYPED[i::BESIDE_EACH_OTHER], LISTED[i::BESIDE_EACH_OTHER])
                 for i in range(BESIDE_EACH_OTHER)]
        wrong = [sentence for part in parts for sentence in part.result()]
    for sentence in wrong:
        print(sentence)
    print(f"{name}: {len(TYPED) + len(LISTED) - len(wrong)} of {len(TYPED) + len(LISTED)} completions are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
