#!/usr/bin/env python3
"""Makes every trained model of lessons/models again, with the command that made it: the bytes must be the same.
--write puts what was made in their place, after a task has changed."""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--program", default="build/attn", type=pathlib.Path)
parser.add_argument("--write", action="store_true")
arguments = parser.parse_args()
program = arguments.program.resolve()
models = sorted((pathlib.Path(__file__).resolve().parents[2] / "lessons/models").glob("*.safetensors"))
if not models:
    sys.exit("there are no trained models")
different = []
for model in models:
    task = re.sub(r"^\d+-", "", model.stem)
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "model.safetensors"
        subprocess.run([program, "train", task, "--save-model", made, "--only", "curve"], check=True,
                       stdout=subprocess.DEVNULL)
        if made.read_bytes() == model.read_bytes():
            continue
        different.append(model.name)
        if arguments.write:
            model.write_bytes(made.read_bytes())
if different:
    print(f"{', '.join(different)}: {'written anew' if arguments.write else 'attn train makes other bytes'}")
sys.exit(bool(different) and not arguments.write)
