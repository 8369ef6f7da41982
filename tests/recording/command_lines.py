"""Where the command lines of a recording come from.

Most are gathered: from the documents, from the tests, from the program's help, examples and matrices. The others
are in wrong.txt (what attn must refuse), problems.txt (computations at full precision) and sequences.txt (formats,
colors, files and lessons, several steps one after another).
"""

import json
import re
import shlex
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
STEPS = ("add-positions", "project", "scores", "scale", "mask", "softmax", "weigh", "heads", "concat",
         "feed-forward", "averaging", "compare-scores", "compare-masks", "pool", "embed", "positions",
         "layer-norm", "cost")


def output_of(program, *words):
    return subprocess.run(["attn", *words], executable=program, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False).stdout


def commands(program):
    """The names of all commands, as `attn help commands` lists them."""
    return re.findall(r"^  ([a-z-]+)  +\S", output_of(program, "help", "commands"), re.MULTILINE)


def examples(program):
    """The names of all examples of problems: models stand below them, and are no problems."""
    problems, _, _ = output_of(program, "examples").partition("\nModels\n")
    return re.findall(r"^  ([a-z0-9-]+)  +\S", problems, re.MULTILINE)


# Documents

def in_blocks(text):
    """The command lines of ```attn blocks, with their format, width and precision, and of ```sh blocks."""
    for kind, attributes, block in re.findall(r"^ *```(attn|sh)\b(.*)\n((?:(?! *```).*\n)*)", text, re.MULTILINE):
        options = [f"--{name} {value}" for name, value in re.findall(r"(format|width|precision)=(\w+)", attributes)]
        for line in block.replace("\\\n", " ").splitlines():
            line = re.sub(r"\s(#|>) .*", "", line.strip().removeprefix("$ "))
            if line.startswith("attn"):
                yield " ".join([line, *options])


def in_documents(repository):
    for path in [repository / "README.md", *sorted(repository.glob("docs/*.md")),
                 *sorted(repository.glob("lessons/*.md"))]:
        text = path.read_text(encoding="utf-8")
        yield from in_blocks(text)
        yield from re.findall(r"`(attn [^`\n]+)`", text)
        yield from re.findall(r"^try: (attn .*)", text, re.MULTILINE)
        for on in re.findall(r"^on: (.*)", text, re.MULTILINE):
            yield on if on.startswith("attn") else "attn walk " + on


# Tests

LITERAL = r'(?:R"\((?:.|\n)*?\)"|"(?:[^"\\\n]|\\.)*")'
LIST = re.compile(rf"(\w*)\(?(?:Words)?\{{((?:\s*(?:{LITERAL}|golden_path\({LITERAL}\)),?)+)\s*\}}")
TRIED = ("accepted", "refuses", "refusal", "run_attn", "said", "succeed")


def text_of(literal):
    """The text of a string literal of C++, or None if it holds characters that are written as numbers."""
    if literal.startswith("R"):
        return literal[3:-2]
    if re.search(r"\\[xu0-9]", literal):
        return None
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), literal[1:-1])


def in_test(text, names):
    """The command lines of a test: lists of string literals only, in braces.

    A list is a command line if its first literal is a command, or if it is an argument of a function that runs
    attn. A list of options alone is taken as options of several commands. A list in which anything but literals
    stands, such as a path or a variable, is not found; its literals up to there would mean something else.
    """
    for function, inside in LIST.findall(text):
        words = []
        for path, literal in re.findall(rf"(golden_path\()?({LITERAL})", inside):
            word = text_of(literal)
            words.append("tests/golden/" + word if path and word else word)
        if None in words:
            continue
        if function == "run_lesson_words":
            yield ["lesson", *words]
        elif words[0] in names or function in TRIED:
            yield words
        elif re.match(r"--?[a-z]", words[0]):
            yield from ([command, *words] for command in ("walk", "align", "transformer"))
    for literal in re.findall(LITERAL, text):
        line = text_of(literal)
        if line and re.match(r"attn [a-z-]+ ?", line) and line.split()[1] in names and "\n" not in line:
            try:
                yield shlex.split(line)[1:]
            except ValueError:
                pass


def in_tests(repository, names):
    for path in sorted([*repository.glob("tests/*.cpp"), *repository.glob("tests/*.hpp")]):
        for words in in_test(path.read_text(encoding="utf-8"), names):
            if not any(word.startswith(("/", "../")) for word in words):  # only files of the recording
                yield shlex.join(["attn", *words])


def problems_in_tests(repository, folder):
    """Raw literals of the tests that are JSON objects, as problem files."""
    folder.mkdir()
    count = 0
    for path in sorted(repository.glob("tests/*_test.cpp")):
        for literal in re.findall(r'R"\((\{(?:.|\n)*?\})\)"', path.read_text(encoding="utf-8")):
            count += 1
            name = f"{count:03}.json"
            (folder / name).write_text(literal, encoding="utf-8")
            yield f"attn walk --problem problems/{name}"


# The program itself

def in_help(program):
    for name in commands(program):
        for line in (f"attn help {name}", f"attn {name} -h", f"attn {name} --help", f"attn {name} --help --ascii",
                     f"attn help {name} --format markdown", f"attn help {name} --width 50", f"attn {name}"):
            yield line
        for line in output_of(program, name, "-h").splitlines():
            if line.startswith("  attn "):
                yield line.strip()
    for line in ("", " help", " -h", " --help", " --version", " help input", " help output", " help --format json",
                 " help input --format markdown", " help output --width 40", " help --format markdown"):
        yield "attn" + line


def in_lessons(repository):
    for path in sorted(repository.glob("lessons/*.md")):
        name, file = path.stem[3:], f"lessons/{path.name}"
        yield f"attn lesson show {name}"
        yield f"attn lesson show {name} --format markdown"
        yield f"attn lesson show {file} --width 60 --ascii"
        yield f"attn lesson run {name}"
        yield f"attn lesson run {name} --no-input --step 3"
        yield f"attn lesson run {name} --answers files/numbers.txt"
        yield f"attn lesson run {name} --color always --no-input --state state.json"
        yield f"attn lesson export {name} lesson.md"
        yield f"attn lesson export {name} lesson.html"
        yield f"attn lesson check {file}"
    for path in [*sorted(repository.glob("docs/*.md")), *sorted(repository.glob("lessons/*.md"))]:
        file = path.relative_to(repository)
        yield f"attn docs check {file}"
        yield f"attn docs clean {file} && attn docs update {file}"


def in_examples(program):
    for name in examples(program):
        yield f"attn examples {name}"
        for options in ("", "--transpose", "--outline", "--swap 1,2", "--full --precision 9", "--ascii --width 60",
                        "--color always", "--format markdown", "--format markdown --precision 8 --width 50",
                        "--format csv", "--format tsv", "--format json", "-o walk.npz", "-o walk.md",
                        "--format npy --only output -o output.npy", "--causal", "--score gaussian",
                        "--score additive --format json", "--positions learned --format json", "--layers 2"):
            yield f"attn walk --example {name} {options}".strip()
        for word in ("1", "2", "it", "Thinking", "dog"):
            yield f"attn walk --example {name} --by-word {word}"
            yield f"attn softmax --example {name} --from {word}"
        for step in STEPS:
            for options in ("", "--format json", "--format markdown"):
                yield f"attn {step} --example {name} {options}".strip()
    for number in range(1, 23):
        for options in ("", "--format json", "--format markdown"):
            yield f"attn errata E{number} {options}".strip()


EXPLAINED = [
    "walk --text 'who sees whom' --d-model 4 --heads 2 --causal",
    "walk --text 'a b c' --d-model 4 --score bilinear --positions sinusoidal",
    "walk --text 'a b c' --d-model 4 --score additive --positions concatenated",
    "walk --text 'a b c' --d-model 4 --score gaussian --positions learned",
    "walk --text 'a b c' --d-model 4 --positions relative-bias --layers 2",
    "walk --text 'a b c' --d-model 4 --positions relative-vectors --heads 2",
    "walk --text 'a b' --memory-text 'c d e' --d-model 4 --valid-length 2",
    "walk --text 'a b c' --text 'd e <blank>' --d-model 4 --mask '1 1 0; 0 1 1; 1 1 1' --mask-fill -9",
    "walk --scores '1 2; 3 4' --mask '0.5 -inf; 0 -2' --v '1; 2'",
    "transformer", "transformer --norm pre --positions learned --seed 9", "transformer --model copy",
    "encoder --layers 1 --norm none", "decoder --kind decoder-only", "decoder --model pattern",
    "align", "align --variant luong --transpose", "align --variant scaled-dot", "align --variant none",
    "align --seed 7 --hidden 3 --cell gru --source 'one two three'",
]


def explained(program):
    """The first and the last cell of every matrix that was computed, explained."""
    for line in [f"walk --example {name}" for name in examples(program)] + EXPLAINED:
        command, *options = shlex.split(line)
        written = shlex.join(options)
        page = json.loads(output_of(program, command, *options, "--format", "json"))
        for node in page["nodes"]:
            if node["operation"] == "input" or 0 in node["shape"]:
                continue
            first, last = f"'{node['name']}[1,1]'", "'{}[{},{}]'".format(node["name"], *node["shape"])
            asked = "explain " if command == "walk" else f"{command} --explain "
            yield f"attn {asked}{first} --depth 2 {written}".strip()
            yield f"attn {asked}{last} --format markdown {written}".strip()


# All

def listed(name):
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def with_formats(lines):
    """The lines, and each again in two other formats, if it names no format itself."""
    for line in lines:
        yield line
        if not re.search(r"--format|--fo| -o|--output|&&|attn (lesson|docs|help|convert)|attn *$", line):
            yield line + " --format json"
            yield line + " --format markdown --precision 6"


def gathered(repository, program, files):
    """All command lines, each with its kind. A command line of several kinds has the first one."""
    names = commands(program)
    kinds = {
        "documents": with_formats(in_documents(repository)),
        "lessons": in_lessons(repository),
        "help": in_help(program),
        "problems": listed("problems.txt"),
        "wrong": listed("wrong.txt"),
        "sequences": listed("sequences.txt"),
        "examples": in_examples(program),
        "tests": with_formats([*in_tests(repository, names),
                               *problems_in_tests(repository, files / "problems")]),
        "explained": explained(program),
    }
    lines = {}
    for kind, found in kinds.items():
        for line in found:
            if "--measure" not in line and readable(line, files):
                lines.setdefault(line, kind)
    return lines


def readable(line, files):
    """Whether the line can be split into words, runs attn only, and has the file that it takes as input."""
    try:
        words = shlex.split(line)
    except ValueError:
        return False
    if words[-2:-1] == ["<"] and not (files / words[-1]).is_file():
        return False
    return bool(re.match(r"([A-Z_]+=\S* )*attn( |$)", line)) and not re.search(r" [|>;&] ", line)
