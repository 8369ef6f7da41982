"""Every option of attn: drawn by the oracles, or with a reason why not. A new option has to be put into one of these."""
import re
import subprocess

DRAWN = """
    --activation --base --beta --bk --bo --bq --bv --b1 --b2 --causal --causal-offset --cell --columns --d --d-ff --d-k
    --d-memory --d-model --d-v --depth --embeddings --epsilon --first-position --gamma --heads --hidden --k --kernel --kind --kv-heads
    --layers --mask --mask-fill --max-distance --memory --memory-mask --memory-text --memory-valid-length --model --multiply
    --n --n-k --n-q --no-bias --no-cache --no-feed-forward --norm --norm-kind --not-causal --only --parameters
    --parents --position-ids --position-table --positions --prefix --q --random --sample --sample-seed --save-parameters --scale --score --score-b
    --score-m --score-sigma --score-wk --score-wq --score-wv --scores --seed --soft-cap --source --steps --sweep --swap
    --target --target-first-position --target-mask --target-position-ids --target-valid-length --target-x --temperature --text --threads --tied-output --top-k --top-p
    --transpose --unscaled-embeddings --v --valid-length --value-memory --variant --weights --wk --wo --wq --wv --w1 --w2
    --x --key-tokens --tokens --problem --format
    """.split()

NOT_DRAWN = {
    "how a page is written": "--output --precision --width --full --section --no-labels --heading-level --math --standalone --shading --ascii"
                             " --color --theme --transparent --no-pager",
    "help": "-h --help",
    "parity with PyTorch: tests/parity/families.py": "--gated --w-gate --b-gate",
    "rounded as float32 rounds: tests/model_commands_test.cpp": "--single",
    "what was read and assumed: tests/readers_test.cpp": "--say-input",
    "a screen, its keys and its pictures: tests/explore_test.cpp and tests/screen/run.py": "--explore --second --keys --print --picture"
                                                                                            " --recording --screen",
    "computations with changes, which tests/what_if_test.cpp compares with others": "--what-if --without --patch --patch-file"
                                                                                     " --patch-text --each-head --held-out",
    "exit codes of attn check: tests/check_test.cpp": "--strict",
    "the same computation for a browser": "--page",
    "says what is computed and computes nothing": "--outline",
    "compares with files, which tests of its own write": "--against --as --each",
    "code and inputs for files to compare, which tests of their own try": "--recorder --input",
    "measured in seconds": "--measure",
    "a page of one word, or of one head, of the same numbers": "--by-word --from --head",
    "other pictures of the same numbers": "--map --product --left --right",
    "another question about the same cell": "--explain --code",
    "laws and failures, which tests/law_test.cpp and tests/break_test.cpp try": "--assert --tolerance --trace --break",
    "which logit is taken apart, whose terms tests/lens_test.cpp adds up": "--at --word",
    "gradients, which --check itself compares with finite differences, and parity with PyTorch": "--backward --influence --of --by --upstream"
                                                                                                " --check --recompute --by-hand --step-size",
    "loops of its own compare it, in tests/cached_positions_test.cpp": "--key-position-ids",
    "loops of its own compare it, in tests/problem_options_test.cpp": "--key-mask --target-key-mask --memory-key-mask --logits --targets"
                                                                      " --above --below",
    "built-in inputs, of which the same is drawn otherwise": "--example --size",
    "its page says that earlier outputs stay equal; the oracles compare the outputs themselves": "--check-causal",
    "many translations, each of which is drawn otherwise": "--by-length",
    "chooses one matrix of a file": "--key",
    "all texts, which tests/generation_test.cpp compares": "--beams",
    "training, which tests of its own compare": "--batch --rate --warm-up --schedule --clip --smoothing --dropout --examples --every --beside --pairs --save --save-model"
                                                " --save-steps --resume --text-file --window --subwords",
    "a set of other options, which tests/training_text_test.cpp compares with them": "--recipe",
    "tokenizers, which tests/tokenizers compares with others": "--tokenizer --text-file --texts --learn --save-tokenizer --no-special",
    "what is shown of a training": "--watch --head --compare",
    "the attention of one layer, whose matrices the oracles compare in its model": "--layer",
    "documents in a forge: tests/documents_in_ci_test.cpp": "--annotate",
    "lessons and their progress": "--state --no-input --answers --step --yes --worksheet --with-answers --count --mistake --set",
}


def listed(program):
    """The options of each command, as its help lists them."""
    def text(*words):
        return subprocess.run([program, *words], capture_output=True, check=True, text=True).stdout

    commands = re.findall(r"^  ([a-z-]+)  ", text("help", "commands"), re.MULTILINE)
    return {command: re.findall(r"^  (-h|--[a-z0-9-]+)", text("help", command), re.MULTILINE) for command in commands}


def unknown(program):
    """What is wrong with the lists above, as sentences."""
    found = {option: command for command, options in listed(program).items() for option in options}
    known = {*DRAWN, *(option for options in NOT_DRAWN.values() for option in options.split())}
    return [f"{option} of attn {command} is drawn by no oracle, and tests/oracles/options.py does not say why"
            for option, command in found.items() if option not in known] + \
           [f"{option} is in tests/oracles/options.py, and no command has it" for option in known if option not in found]
