"""A small valid file of each format that attn reads, a damaged one of each, and a command that reads it; and how the
program is run, with limits of time and memory.

Files come from tests/fuzz/seeds/, which NumPy, PyTorch and other programs wrote; from lessons/; from the program itself;
and where they are whole models, they are put together here."""
import collections
import json
import math
import os
import pathlib
import resource
import signal
import struct
import subprocess
import tempfile
import threading
import zipfile

source = pathlib.Path(__file__).resolve().parents[2]
seeds = source / "tests/fuzz/seeds"

SECONDS = 60
BYTES = 4 << 30  # of addresses: products alone take some hundred MiB of them

# How a process ended: `code` or `signal` is None; seconds of processors, and the most memory.
Finished = collections.namedtuple("Finished", "code signal is_late out errors processor kilobytes")


def run(program, words, folder):
    """Runs attn in a folder to its end, or for SECONDS."""
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "LC_ALL": "C.UTF-8", "TERM": "xterm",
                   "OPENBLAS_NUM_THREADS": "1"}

    def limit():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([program, *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=errors, preexec_fn=limit)
        timer = threading.Timer(SECONDS, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        _, status, used = os.wait4(process.pid, 0)
        is_late = not timer.is_alive()
        timer.cancel()
        process.returncode = 0  # it is waited for
        code = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, errors):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return Finished(code if code >= 0 else None, -code if code < 0 else None, is_late, *texts,
                    used.ru_utime + used.ru_stime, used.ru_maxrss)


# --- formats that are written here

def tensors_of(path):
    """Name -> shape and numbers of a file of safetensors with F32."""
    data = path.read_bytes()
    size, = struct.unpack_from("<Q", data)
    tensors = {}
    for name, row in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = row["data_offsets"]
        tensors[name] = row["shape"], struct.unpack(f"<{(end - begin) // 4}f", data[8 + size + begin:8 + size + end])
    return tensors


def floats(numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


# https://github.com/huggingface/safetensors#format
def safetensors(tensors):
    header, data = {}, b""
    for name, (shape, numbers) in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [len(data), len(data) + 4 * len(numbers)]}
        data += floats(numbers)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def archive(path, members):
    with zipfile.ZipFile(path, "w") as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name), data)


def torch_file(path, tensors):
    """What torch.save writes of a state dictionary: a pickle of protocol 2, and a member for the numbers of each."""
    def text(word):
        return b"X" + struct.pack("<I", len(word)) + word.encode()

    def number(value):
        return b"J" + struct.pack("<i", value)

    def sizes(values):
        return b"(" + b"".join(map(number, values)) + b"t"

    def strides(shape):
        return [math.prod(shape[i + 1:]) for i in range(len(shape))]

    pickle = b"\x80\x02}"
    members = {}
    for i, (name, (shape, numbers)) in enumerate(tensors.items()):
        storage = b"(" + text("storage") + b"ctorch\nFloatStorage\n" + text(str(i)) + text("cpu") + number(len(numbers)) + b"tQ"
        pickle += (text(name) + b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(0) + sizes(shape)
                   + sizes(strides(shape)) + b"\x89ccollections\nOrderedDict\n)RtR" + b"s")
        members[f"archive/data/{i}"] = floats(numbers)
    archive(path, {"archive/data.pkl": pickle + b".", **members, "archive/version": b"3\n"})


def transposed(shape, numbers):
    rows, columns = shape
    return [columns, rows], [numbers[i * columns + j] for j in range(columns) for i in range(rows)]


# https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
def gguf(tensors, values):
    def text(word):
        return struct.pack("<Q", len(word.encode())) + word.encode()

    def value(one):
        if isinstance(one, str):
            return 8, text(one)
        if isinstance(one, float):
            return 6, struct.pack("<f", one)
        if isinstance(one, list):
            kind = value(one[0])[0]
            return 9, struct.pack("<IQ", kind, len(one)) + b"".join(value(each)[1] for each in one)
        return 4, struct.pack("<I", one)

    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values))
    for name, one in values.items():
        kind, data = value(one)
        head += text(name) + struct.pack("<I", kind) + data
    data = b""
    for name, (shape, numbers) in tensors.items():
        head += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", size) for size in reversed(shape))
        head += struct.pack("<IQ", 0, len(data))
        data += floats(numbers)
        data += b"\0" * (-len(data) % 32)
    return head + b"\0" * (-len(head) % 32) + data


GGUF_NAMES = {"wte.weight": "token_embd.weight", "wpe.weight": "position_embd.weight", "h.0.ln_1": "blk.0.attn_norm",
              "h.0.attn.c_attn": "blk.0.attn_qkv", "h.0.attn.c_proj": "blk.0.attn_output", "h.0.ln_2": "blk.0.ffn_norm",
              "h.0.mlp.c_fc": "blk.0.ffn_up", "h.0.mlp.c_proj": "blk.0.ffn_down", "ln_f": "output_norm"}


def gpt2_as_gguf(tensors):
    renamed = {}
    for name, (shape, numbers) in tensors.items():
        ours = next(name.replace(theirs, other) for theirs, other in GGUF_NAMES.items() if name.startswith(theirs))
        is_map = name.startswith("h.") and len(shape) == 2
        renamed[ours] = transposed(shape, numbers) if is_map else (shape, numbers)
    values = {"general.architecture": "gpt2", "gpt2.attention.head_count": 2,
              "gpt2.attention.layer_norm_epsilon": 1e-5, "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2",
              "tokenizer.ggml.tokens": ["a", "b", "ab"], "tokenizer.ggml.token_type": [1, 1, 1],
              "tokenizer.ggml.merges": ["a b"]}
    return gguf(renamed, values)


# --- damages

def half(data):
    return data[:len(data) // 2]


def first_bit(data):
    return bytes([data[0] ^ 1]) + data[1:]


def without_end(data):
    return data[:-1]


def with_instead(old, new):
    def damage(data):
        assert data.count(old) >= 1, (old, data[:200])
        return data.replace(old, new, 1)
    return damage


# --- what is read, and by which command

# A format: the file that is damaged, by its name; the damage after which it is refused; the command that reads it, in its
# folder; and the exit codes of the command on the valid file.
Format = collections.namedtuple("Format", "name file damage command codes", defaults=[(0,)])


def formats(program, folder):
    """Writes a folder for each format, and returns them with their folders."""
    rows = []

    def add(name, files, file, damage, command, codes=(0,)):
        place = folder / name
        place.mkdir(parents=True)
        for path, data in files.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(data if isinstance(data, bytes) else data.encode())
        rows.append((Format(name, file, damage, command.split("|"), codes), place))
        return place

    def seed(path):
        return (seeds / path).read_bytes()

    def written(name, words, file, damage, command, codes=(0,)):
        """A file that the program writes itself."""
        place = add(name, {}, file, damage, command, codes)
        made = run(program, [*words.split("|"), "-o", file], place)
        assert made.code == 0 and (place / file).exists(), (name, made)

    # One matrix, or several.
    add("npy", {"a.npy": seed("npy/fortran.npy")}, "a.npy", half, "softmax|--scores|a.npy")
    for kind in ["f4", "i8"]:
        add(f"npy-{kind}", {"a.npy": seed(f"npy/{kind}.npy")}, "a.npy", half, "check|a.npy|--text|a b|--as|output", (1,))
    for kind in ["stored", "deflated"]:
        add(f"npz-{kind}", {"a.npz": seed(f"npz/{kind}.npz")}, "a.npz", first_bit, "softmax|--scores|a.npz:q")
    add("csv", {"a.csv": seed("csv/pandas.csv")}, "a.csv", lambda data: data + b"1,2,3,4,5,6,7,8,9\n", "softmax|--scores|a.csv")
    add("tsv", {"a.tsv": seed("tsv/table.tsv")}, "a.tsv", lambda data: data + b"1\t2\t3\t4\t5\t6\t7\t8\n", "softmax|--scores|a.tsv")
    add("json", {"a.json": seed("json/named.json")}, "a.json", half, "softmax|--scores|a.json")
    add("safetensors", {"a.safetensors": safetensors({"q": ([2, 2], [1, 2, 3, 4]), "k": ([1, 2], [5, 6])})},
        "a.safetensors", half, "softmax|--scores|a.safetensors:q")
    written("page-npz", "walk|--text|a b c|--format|npz", "a.npz", first_bit, "check|a.npz", (0, 1))
    written("page-json", "walk|--text|a b c|--format|json", "a.json", half, "check|a.json", (0, 1))
    written("trace-json", "walk|--text|a b c|--format|json", "a.json", half, "assert|sum(weights[a]) = 1|--trace|a.json", (0, 1))
    written("trace-npz", "walk|--text|a b c|--format|npz", "a.npz", first_bit, "explore|--trace|a.npz|--print|matrices", (0,))

    # Parameters of one attention, and whole models.
    attention = tensors_of(seeds / "parameters/attention.safetensors")
    of_attention = "walk|--text|a b c|--heads|2|--parameters|"
    for kind in ["json", "npz", "safetensors"]:
        add(f"parameters-{kind}", {f"a.{kind}": seed(f"parameters/attention.{kind}")}, f"a.{kind}",
            first_bit if kind == "npz" else half, f"{of_attention}a.{kind}")
    torch_file(add("parameters-pt", {}, "a.pt", first_bit, f"{of_attention}a.pt") / "a.pt", attention)
    torch_file(add("parameters-bin", {}, "a.bin", half, f"{of_attention}a.bin") / "a.bin", attention)
    gpt2 = tensors_of(seeds / "parameters/gpt2.safetensors")
    config = json.dumps({"model_type": "gpt2", "n_head": 2, "n_layer": 1, "n_embd": 2})
    vocabulary = {"vocab.json": json.dumps({"a": 0, "b": 1, "ab": 2}), "merges.txt": "#version: 0.2\na b\n"}
    whole = {"config.json": config, "model.safetensors": safetensors(gpt2)}
    of_model = "decoder|--model|.|--target|a b"
    add("model-config", whole, "config.json", half, "decoder|--model|.")
    add("model-safetensors", whole, "model.safetensors", half, "decoder|--model|.")
    add("model-vocab", {**whole, **vocabulary}, "vocab.json", half, of_model)
    add("model-merges", {**whole, **vocabulary}, "merges.txt", with_instead(b"a b", b"a"), of_model)
    torch_file(add("model-bin", {"config.json": config}, "pytorch_model.bin", first_bit, "decoder|--model|.")
               / "pytorch_model.bin", gpt2)
    names = list(gpt2)
    shards = {f"model-0000{i + 1}-of-00002.safetensors": {name: gpt2[name] for name in part}
              for i, part in enumerate([names[:7], names[7:]])}
    index = {"weight_map": {name: file for file, part in shards.items() for name in part}}
    sharded = {"config.json": config, "model.safetensors.index.json": json.dumps(index),
               **{file: safetensors(part) for file, part in shards.items()}}
    add("model-index", sharded, "model.safetensors.index.json", half, "decoder|--model|.")
    add("model-shard", sharded, "model-00002-of-00002.safetensors", half, "decoder|--model|.")
    add("model-gguf", {"a.gguf": gpt2_as_gguf(gpt2)}, "a.gguf", half, "decoder|--model|a.gguf|--target|a b")
    add("model-llama2c", {"a.bin": seed("model-file/llama2.bin")}, "a.bin", without_end, "decoder|--model|a.bin")
    models = source / "lessons/models"
    add("model-json", {"a.json": (models / "01-pattern.json").read_bytes()}, "a.json", half, "transformer|--model|a.json")
    add("model-trained", {"a.safetensors": (models / "04-induction.safetensors").read_bytes()}, "a.safetensors", half,
        "transformer|--model|a.safetensors")
    add("alignment-json", {"a.json": (source / "lessons/align/01-white-house.json").read_bytes()}, "a.json", half,
        "align|--model|a.json")
    for kind in ["induction", "pairs", "sort"]:
        add(f"state-{kind}", {"a.safetensors": seed(f"state/{kind}.safetensors")}, "a.safetensors", half,
            "train|--resume|a.safetensors|--steps|7")

    # Tokenizers, texts and vectors of words.
    for kind in ["bert", "bytes", "llama", "t5"]:
        add(f"tokenizer-{kind}", {"tokenizer.json": seed(f"tokenizer/{kind}.json")}, "tokenizer.json", half,
            "tokenize|hello world|--tokenizer|tokenizer.json")
    for kind in ["bpe", "unigram"]:
        add(f"sentencepiece-{kind}", {"tokenizer.model": seed(f"sentence-piece/{kind}.model")}, "tokenizer.model",
            without_end, "tokenize|hello world|--tokenizer|tokenizer.model")
    add("tokenizer-llama2c", {"tokenizer.bin": seed("llama2c-words/tokenizer.bin")}, "tokenizer.bin", without_end,
        "tokenize|hello world|--tokenizer|tokenizer.bin")
    add("tokenizer-gguf", {"a.gguf": gguf({}, {
        "general.architecture": "llama", "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": ["<unk>", "<s>", "</s>", "▁h", "e", "l", "o", "ll", "▁he"],
        "tokenizer.ggml.scores": [0.0, 0.0, 0.0, -1.0, -2.0, -3.0, -4.0, -1.5, -0.5],
        "tokenizer.ggml.token_type": [2, 3, 3, 1, 1, 1, 1, 1, 1]})}, "a.gguf", half, "tokenize|hello|--tokenizer|a.gguf")
    add("vocab-txt", {"vocab.txt": "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nhello\nworld\n##s\n"}, "vocab.txt",
        with_instead(b"world", b"hello"), "tokenize|hello worlds|--tokenizer|vocab.txt")
    add("texts", {"texts.json": '"hello world"\n"a b"\n', "tokenizer.json": seed("tokenizer/bytes.json")}, "texts.json",
        half, "tokenize|--texts|texts.json|--tokenizer|tokenizer.json")
    add("text", {"a.txt": "the dog ran because it was late\n"}, "a.txt", lambda data: data + b"\xff\xfe\x80",
        "tokenize|--text-file|a.txt|--learn|260")
    add("embeddings", {"a.txt": "the 0.5 1\ncat 1 0.25\n"}, "a.txt", with_instead(b"cat 1 0.25", b"cat 1 x"),
        "walk|--text|the cat|--embeddings|a.txt")
    add("word2vec", {"a.txt": "2 2\nthe 0.5 1\ncat 1 0.25\n"}, "a.txt", with_instead(b"cat 1 0.25", b"cat 1"),
        "walk|--text|the cat|--embeddings|a.txt")
    add("pairs", {"a.txt": "one\tun\ntwo\tdeux\n"}, "a.txt", with_instead(b"\t", b" "),
        "train|pairs|--pairs|a.txt|--steps|1")

    # Problems, documents, lessons, hand-ins, progress.
    add("problem", {"a.json": (source / "lessons/examples/02-animal.json").read_bytes()}, "a.json", half,
        "walk|--problem|a.json")
    add("document", {"a.md": "```attn\nattn softmax --scores '1 2'\n```\n"}, "a.md", with_instead(b"softmax", b"sftmax"),
        "docs|check|a.md", (1,))
    add("lesson", {"a.md": (source / "lessons/01-soft-lookup.md").read_bytes()}, "a.md", half, "lesson|run|a.md|--no-input")
    add("drill", {"a.md": seed("drill/short.md")}, "a.md", with_instead(b"often: 2", b"often: x"),
        "drill|a.md|--count|1|--no-input")
    add("puzzle", {"a.md": (source / "lessons/puzzles" / sorted(os.listdir(source / "lessons/puzzles"))[0]).read_bytes()},
        "a.md", half, "puzzle|a.md|--no-input", (0, 1))
    add("hand-in", {"class/a.txt": "1. 0.5\n"}, "class/a.txt", lambda data: b"\xff\xfe" + data, "lesson|class|class|5", (0, 1))
    add("progress", {"state.json": seed("progress/state.json")}, "state.json", lambda data: b'{"a": 1}',
        "lesson|list|--state|state.json")
    return rows
