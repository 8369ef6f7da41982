#!/usr/bin/env python3
"""Everything that attn writes as JSON, validated with docs/attn-1.schema.json.

    schema.py ATTN
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("skipped: jsonschema is missing")
    sys.exit(77)

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "docs" / "attn-1.schema.json"
# What commands say of nothing but their names, and what needs more than that.
MORE = {
    "what-if": ["--without", "scale"],
    "assert": ["row_sums(weights) = 1; causal(weights)"],
    "diff": ["walk", "walk --causal"],
    "explain": ["output[1,2]", "--depth", "2"],
    "convert": ["1 2; 3 4", "-"],
    "check": ["--input"],
    "lesson": ["run", "1", "--no-input"],
    "docs": ["check", "DOCUMENT"],
    "completion": ["bash"],
    "show": ["PAGE"],
    "train": ["reverse", "--steps", "2"],
    "puzzle": ["1", "--no-input"],
    "drill": ["softmax", "--seed", "1", "--count", "2", "--with-answers"],
}
LINES = [
    ["walk", "--outline"], ["walk", "--by-word", "Thinking"], ["walk", "--swap", "1,2", "--example", "order"],
    ["walk", "--example", "animal", "--map"], ["softmax", "--example", "animal", "--from", "it"],
    ["walk", "--product", "scores"], ["walk", "--only", "weights"], ["walk", "--text", "<blank>", "--causal"],
    ["mask", "--scores", "1 2; 3 4", "--causal", "--only", "masked"], ["backward", "--by-hand"],
    ["backward", "--check"], ["cost", "--outline", "--n", "5"], ["encoder", "--outline"], ["encoder", "--map"],
    ["align", "--outline"], ["examples", "animal"], ["errata", "E10"], ["lesson", "list"], ["help", "walk"],
    ["check", "RIGHT"], ["check", "WRONG"], ["check", "MASKED", "--causal"], ["check", "--each", "RIGHT", "WRONG", "NONE"],
    ["drill", "softmax", "--seed", "1", "--count", "2", "--answers", "ANSWERS"], ["positions", "--say-input"],
]
ERRORS = [
    ["wlk"], ["walk", "--cusal"], ["walk", "--x", "1 2; 3"], ["walk", "--heads", "none"], ["walk", "--text", "a", "--x", "1"],
    ["softmax", "--scores", "NONE"], ["check", "NONE"], ["walk", "--depth", "2"], ["lesson", "run", "100"],
]
FILES = {
    "RIGHT": ("right.json", '{"Q": [[0, 0]], "K": [[1, 0]], "V": [[1, 2]], "output": [[1, 2]]}'),
    "WRONG": ("wrong.json", '{"Q": [[1, 2]], "K": [[2, 1], [1, 0]], "V": [[1, 2], [3, 4]], "scaled": [[4, 1]],'
                            ' "foo.weight": [[1]], "weights": [["NaN", 1]]}'),
    "MASKED": ("masked.json", '{"Q": [[2, 0], [0, 2]], "K": [[1, 0], [0, 1]], "V": [[1], [5]],'
                              ' "masked": [[1.4142135624, -1e9], [0, 1.4142135624]]}'),
    "ANSWERS": ("answers.txt", "0.5\n0.5\n"),
    "DOCUMENT": ("notes.md", "# Notes\n\n```attn\nattn softmax --scores '2 1'\n```\n<!-- attn:output -->\nold\n<!-- /attn:output -->\n"),
}


def main():
    attn = sys.argv[1]
    validator = Draft202012Validator(json.loads(SCHEMA.read_text()))
    Draft202012Validator.check_schema(validator.schema)
    faults, pages = [], 0

    def run(words):
        return subprocess.run([attn, *words, "--format", "json"], capture_output=True, text=True, timeout=300)

    def validate(words, document):
        nonlocal pages
        pages += 1
        kind = next((name for name in ("error", "warning", "note") if name in document), "page") \
            if isinstance(document, dict) else "matrix"
        only = Draft202012Validator({**validator.schema, "anyOf": [{"$ref": f"#/$defs/{kind}"}]})
        for error in list(only.iter_errors(document))[:3]:
            deepest = error
            while deepest.context:
                deepest = min(deepest.context, key=lambda one: len(one.path), default=deepest)
            faults.append(f"{' '.join(words)}: {'/'.join(map(str, error.absolute_path))}: {deepest.message[:200]}")

    with tempfile.TemporaryDirectory() as folder:
        paths = {"NONE": f"{folder}/none.json", "PAGE": f"{folder}/page.json"}
        for name, (file, text) in FILES.items():
            paths[name] = f"{folder}/{file}"
            pathlib.Path(paths[name]).write_text(text)
        pathlib.Path(paths["PAGE"]).write_text(run(["walk"]).stdout)
        commands = re.findall(r"^  ([a-z-]+)  ", subprocess.run([attn, "help", "commands"], capture_output=True, text=True,
                                                                 check=True).stdout, re.MULTILINE)
        lines = [[name, *MORE.get(name, [])] for name in commands if name != "page"] + LINES
        for line in lines:
            words = [paths.get(word, word) for word in line]
            done = run(words)
            if not done.stdout:
                faults.append(f"{' '.join(words)} writes nothing: {done.stderr[:200]}")
                continue
            validate(words, json.loads(done.stdout))
            for said in done.stderr.splitlines():
                validate(words, json.loads(said))
        for line in ERRORS:
            words = [paths.get(word, word) for word in line]
            done = run(words)
            said = json.loads(done.stderr.splitlines()[-1])
            validate(words, said)
            if done.returncode != 2 or said["error"]["exit_code"] != 2:
                faults.append(f"{' '.join(words)}: exit code {done.returncode}, and the error says {said}")
    print("\n".join(faults) or f"{pages} documents are as the schema says")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
