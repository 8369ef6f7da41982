#!/usr/bin/env python3
"""Makes the trained models of lessons/models again, with as many steps as each says of itself: the bytes must be the same.
All of them, or those of some tasks where ATTN_ALL_SEEDS is not set. --write puts what was made in their place, after a task has changed."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--program", default="build/attn", type=pathlib.Path)
parser.add_argument("--write", action="store_true")
parser.add_argument("tasks", nargs="*", metavar="TASK", help="such as reverse (default: all of them)")
arguments = parser.parse_args()
program = arguments.program.resolve()
models = {re.sub(r"^\d+-", "", model.stem): model
          for model in sorted((pathlib.Path(__file__).resolve().parents[2] / "lessons/models").glob("*.safetensors"))}
if not models:
    sys.exit("there are no trained models")
if unknown := set(arguments.tasks) - set(models):
    sys.exit(f"no model was trained on {', '.join(sorted(unknown))}. Choose some of: {', '.join(models)}")
different = []
for task in models if os.environ.get("ATTN_ALL_SEEDS") else arguments.tasks or models:
    model = models[task]
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "model.safetensors"
        command, steps = (part.decode() for part in re.search(rb"Trained with attn (train [^:,]*): (\d+) steps",
                                                              model.read_bytes()).groups())
        subprocess.run([program, *command.split(), "--steps", steps, "--save-model", made, "--only", "curve"],
                       check=True, stdout=subprocess.DEVNULL)
        if made.read_bytes() == model.read_bytes():
            continue
        different.append(model.name)
        if arguments.write:
            model.write_bytes(made.read_bytes())
if different:
    print(f"{', '.join(different)}: {'written anew' if arguments.write else 'attn train makes other bytes'}")
sys.exit(bool(different) and not arguments.write)
