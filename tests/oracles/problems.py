"""Random problems of attention: every input, scoring function, scale, mask, kind of positions, heads and layers."""
import numpy as np

from attention import How, feed_forward, linear, multi_head, waves, weights_of
from drawing import Drawn, WORDS

STEPS = ("project", "scores", "scale", "mask", "softmax", "weigh", "heads", "concat", "add-positions")
FORMATS = ("safetensors", "safetensors", "json", "npz")


class Problem:
    """Draws a problem into a case, and computes it by sentence and layer."""

    def __init__(self, case, form):
        self.case, self.form = case, form
        self.how, self.p, self.batch, self.valid = How(), {}, False, None
        self.memory = self.values = self.mask = None
        self.causal_offset, self.layers, self.has_feed_forward = None, 1, False
        self.draws = None
        getattr(self, "of_" + form)()

    # What is given

    def draw_seed(self):
        seed = self.case.size(0, 2 ** 32 - 1) if self.case.chance(0.3) else self.case.size(0, 99)
        kind = self.case.one_of("attn", "attn", "numpy")
        if kind == "numpy" or self.case.chance(0.3):
            self.case.option("--random", f"{kind}:{seed}")
        else:
            self.case.option("--seed", seed)
        self.draws = Drawn(seed, kind)

    def draw_heads(self):
        self.how.heads = self.case.one_of(1, 1, 1, 2, 3, 4)
        if self.how.heads > 1:
            self.case.option("--heads", self.how.heads)
        return self.how.heads

    def sizes(self):
        """Of one query, key and value."""
        wide = self.case.chance(0.1)
        self.d_k = self.case.size(1, 70 if wide else 8)
        if self.how.positions == "rotary":
            self.d_k += self.d_k % 2
        self.d_v = self.case.size(1, 70 if wide else 6)
        return self.case.size(1, 40 if wide else 7), self.case.size(1, 40 if wide else 7)

    def parameter(self, name, *shape, spread=None):
        """One that is given, or that attn draws."""
        option = "--" + {"position_table": "position-table"}.get(name, name.replace("score_", "score-").replace("w_", "w")
                                                                 .replace("b_", "b"))
        if self.draws and self.case.chance(0.7):
            self.p[name] = self.draws.parameter(name, *shape)
        else:
            self.p[name] = self.case.give(option, self.case.normal(*shape, spread=spread or 1 / np.sqrt(shape[0])))
        return self.p[name]

    def bias(self, name, n, option):
        if self.case.chance(0.4):
            self.p[name] = self.case.give(option, self.case.normal(1, n))

    def of_queries(self):
        """Queries, keys and values are given, or drawn."""
        case, heads = self.case, self.draw_heads()
        self.draw_positions("none", "none", "rotary", "relative-bias", "relative-vectors", "tree-bias", "tree-vectors")
        n_q, n_k = self.sizes()
        if case.chance(0.3):
            self.draw_seed()
            for name, n in (("--n-q", n_q), ("--n-k", n_k), ("--d-k", self.d_k), ("--d-v", self.d_v)):
                case.option(name, n)
            q, k, v = (self.draws.vectors(name, n, heads * d)
                       for name, n, d in (("q", n_q, self.d_k), ("k", n_k, self.d_k), ("v", n_k, self.d_v)))
            self.q, self.k, self.v = q, k, v
            self.d_q = self.d_k
            self.bilinear = False
        else:
            self.bilinear = self.how.positions == "none" and case.chance(0.3)
            self.d_q = case.size(1, 8) if self.bilinear else self.d_k
            spread = case.one_of(1.0, 1.0, 1.0, 0.01, 30.0)
            self.q = case.give("--q", case.normal(n_q, heads * self.d_q, spread=spread))
            self.k = case.give("--k", case.normal(n_k, heads * self.d_k, spread=spread))
            self.v = case.give("--v", case.normal(n_k, heads * self.d_v))
        self.sentences = [None]
        self.shape = n_q, n_k
        output = heads * self.d_v
        if not self.draws and case.chance(0.3):
            d = case.size(1, 6)
            self.p["w_o"] = case.give("--wo", case.normal(output, d))
            self.bias("b_o", d, "--bo")
            output = d
        self.draw_table(n_q)
        if case.chance(0.2) and not self.draws:
            self.draw_feed_forward(output)
        self.draw_score(self.d_q, self.d_k)

    def of_embeddings(self):
        """Embeddings are given, one matrix or several, or words, whose embeddings are drawn or read from a file."""
        case, heads = self.case, self.draw_heads()
        self.draw_positions("none", "none", "sinusoidal", "concatenated", "learned", "rotary", "relative-bias",
                            "relative-vectors", "tree-bias", "tree-vectors")
        n, m = self.sizes()
        d = case.size(1, 8)
        self.bilinear = not self.how.positions.endswith("-vectors") and case.chance(0.1)
        self.d_q = case.size(1, 4) * 2 if self.bilinear else self.d_k
        sentences = 1 if self.how.positions.startswith("tree-") else case.one_of(1, 1, 1, 2, 3)
        cross = case.chance(0.3)
        layers = 1 if cross or self.bilinear else case.one_of(1, 1, 2, 3)
        if layers > 1:
            case.option("--layers", layers)
        if case.chance(0.4):
            n = self.of_words(sentences, d)
        elif sentences > 1 and case.chance():
            n_each = [n] * sentences
            array = case.normal(sentences, n, d)
            case.option("--x", case.file("x.npy", np_bytes(array)))
            self.sentences = list(array)
        else:
            self.sentences = [case.give("--x", case.normal(case.size(1, 7), d)) for _ in range(sentences)]
        n = max(len(x) for x in self.sentences)
        self.layers = layers
        d_memory = d
        if cross:
            d_memory = case.size(1, 8)
            if self.draws and case.chance():
                words = [case.one_of(*WORDS) for _ in range(m)]
                case.option("--memory-text", " ".join(words))
                case.option("--d-memory", d_memory)
                self.memory = self.rows_of(words, d_memory)
            else:
                self.memory = case.give("--memory", case.normal(m, d_memory))
                if case.chance(0.4):
                    self.values = case.give("--value-memory", case.normal(m, case.size(1, 8)))
        d_values = d_memory if self.values is None else self.values.shape[1]
        if self.draws:
            case.option("--d-k", self.d_k)
            case.option("--d-v", self.d_v)
            self.d_q = self.d_k
            self.bilinear = False
        given = [self.parameter("w_q", d, heads * self.d_q), self.parameter("w_k", d_memory, heads * self.d_k),
                 self.parameter("w_v", d_values, heads * self.d_v)]
        self.bias("b_q", heads * self.d_q, "--bq")
        self.bias("b_k", heads * self.d_k, "--bk")
        self.bias("b_v", heads * self.d_v, "--bv")
        output = heads * self.d_v
        must_fit = layers > 1 and output != d
        if must_fit or heads > 1 and self.draws or case.chance(0.3) and not self.draws:
            output = d if layers > 1 or self.draws else case.size(1, 6)
            self.parameter("w_o", heads * self.d_v, output)
            self.bias("b_o", output, "--bo")
        if layers > 1 and heads > 1 and "w_o" not in self.p:
            self.p["w_o"] = Drawn(1).parameter("w_o", heads * self.d_v, d)
        self.draw_table(n, d)
        if layers > 1 or case.chance(0.3):
            if layers > 1 and case.chance(0.3):
                case.option("--no-feed-forward")
            else:
                self.draw_feed_forward(output)
        self.shape = n, n if self.memory is None else m
        self.draw_score(self.d_q, self.d_k)

    def of_words(self, sentences, d):
        case = self.case
        texts = [[case.one_of(*WORDS) for _ in range(case.size(1, 6))] for _ in range(sentences)]
        for words in texts:
            case.option("--text", " ".join(words))
        n = max(map(len, texts))
        self.padding = [np.arange(n) < len(words) for words in texts]
        if case.chance(0.3):
            table = {word: case.normal(d) for word in dict.fromkeys(WORDS)}
            lines = [" ".join([word, *map(repr, map(float, row))]) for word, row in table.items()]
            case.option("--embeddings", case.file("glove.txt", "\n".join(lines).encode() + b"\n"))
            self.draw_seed()
            rows = {word: table[word] for words in texts for word in words}
        else:
            self.draw_seed()
            case.option("--d-model", d)
            distinct = list(dict.fromkeys(word for words in texts for word in words))
            rows = dict(zip(distinct, self.draws.words(distinct, d)))
        self.sentences = [np.array([rows[word] for word in words] + [np.zeros(d)] * (n - len(words))) for words in texts]
        return n

    def rows_of(self, words, d):
        distinct = list(dict.fromkeys(words))
        rows = dict(zip(distinct, self.draws.words(distinct, d)))
        return np.array([rows[word] for word in words])

    def of_scores(self):
        """Scores are given."""
        case, n_q, n_k = self.case, *self.sizes()
        self.scores = case.normal(n_q, n_k, spread=case.one_of(1.0, 10.0, 300.0))
        if case.chance(0.2):
            self.scores[case.random.random((n_q, n_k)) < 0.2] = -np.inf
        case.give("--scores", self.scores)
        self.v = case.give("--v", case.normal(n_k, self.d_v)) if case.chance(0.8) else None
        self.sentences, self.shape = [None], (n_q, n_k)
        self.how.scale = "none"
        if case.chance():
            self.draw_scale("none", "sqrt-n")
        else:
            case.option("--scale", "none")
        self.draw_cap()
        self.draw_output()

    def of_weights(self):
        """Weights are given."""
        case, n_q, n_k = self.case, *self.sizes()
        weights = case.random.random((n_q, n_k))
        self.weights = case.give("--weights", weights / weights.sum(axis=1, keepdims=True))
        self.v = case.give("--v", case.normal(n_k, self.d_v))
        self.sentences, self.shape = [None], (n_q, n_k)
        self.draw_output()

    def draw_output(self):
        if self.v is not None and self.case.chance(0.3):
            d = self.case.size(1, 5)
            self.p["w_o"] = self.case.give("--wo", self.case.normal(self.d_v, d))
            self.bias("b_o", d, "--bo")

    # How it is computed

    def draw_positions(self, *kinds):
        self.how.positions = self.case.one_of(*kinds)
        if self.how.positions != "none":
            self.case.option("--positions", self.how.positions)

    def draw_table(self, n, d=None):
        shapes = {"learned": lambda: (n + (0 if self.draws else self.case.size(0, 2)), d),
                  "relative-bias": lambda: (1, 2 * c + 1), "relative-vectors": lambda: (2 * c + 1, self.d_q),
                  "tree-bias": lambda: (1, c + 1), "tree-vectors": lambda: (c + 1, self.d_q)}
        if self.how.positions not in shapes:
            return
        c = 2
        if self.how.positions != "learned" and self.case.chance():
            c = self.case.size(1, 9)
            if self.draws:
                self.case.option("--max-distance", c)
        self.draws_table = self.draws
        shape = shapes[self.how.positions]()
        if self.draws:
            self.how.table = self.draws.vectors("position_table", *shape)
        else:
            self.how.table = self.case.give("--position-table", self.case.normal(*shape))

    def draw_score(self, d_q, d_k):
        case, how = self.case, self.how
        of_scale = {"scaled-dot": "sqrt-dk"}
        names = ["bilinear", "additive"] if d_q != d_k or self.bilinear else [
            "scaled-dot", "scaled-dot", "dot", "cosine", "gaussian", "bilinear", "additive"]
        how.score = case.one_of(*names)
        if how.score != "scaled-dot" or case.chance(0.1):
            case.option("--score", how.score)
        how.scale = of_scale.get(how.score, "none")
        if how.score == "gaussian" and case.chance(0.7):
            how.sigma = case.number(0.2, 4.0)
            case.option("--score-sigma", how.sigma)
        if how.score == "bilinear":
            how.m = self.parameter("score_m", d_q, d_k)
            if case.chance(0.4):
                how.b = case.give("--score-b", case.normal(1, 1))
        if how.score == "additive":
            h = d_k if self.draws else case.size(1, 6)
            how.w_q, how.w_k, how.w_v = (self.parameter("score_wq", d_q, h), self.parameter("score_wk", d_k, h),
                                         self.parameter("score_wv", h, 1))
            if case.chance(0.4):
                how.b = case.give("--score-b", case.normal(1, h))
        if case.chance(0.3):
            self.draw_scale("sqrt-dk", "none", "sqrt-n")
        self.draw_cap()

    def draw_scale(self, *names):
        case, how = self.case, self.how
        if case.chance(0.4):
            how.multiply = case.number(0.05, 3.0)
            case.option("--multiply", how.multiply)
        else:
            how.scale = case.one_of(*names, case.number(0.3, 20.0))
            case.option("--scale", how.scale)

    def draw_cap(self):
        if self.case.chance(0.2):
            self.how.cap = self.case.number(0.5, 60.0)
            self.case.option("--soft-cap", self.how.cap)

    def draw_feed_forward(self, d):
        case = self.case
        self.has_feed_forward = True
        if self.draws:
            inner = 4 * d
            if case.chance() or self.layers == 1:
                inner = case.size(1, 9)
                case.option("--d-ff", inner)
            self.p["w_1"], self.p["w_2"] = self.draws.parameter("w_1", d, inner), self.draws.parameter("w_2", inner, d)
            return
        inner = case.size(1, 9)
        outer = d if self.layers > 1 else case.size(1, 7)
        for name, option, shape in (("w_1", "--w1", (d, inner)), ("w_2", "--w2", (inner, outer))):
            self.p[name] = case.give(option, case.normal(*shape))
        self.bias("b_1", inner, "--b1")
        self.bias("b_2", outer, "--b2")

    def draw_masks(self):
        """Of several reasons; what they permit together, and what is added."""
        case, how = self.case, self.how
        n_q, n_k = self.shape
        if case.chance(0.25):
            case.option("--causal")
            self.causal_offset = 0
        elif case.chance(0.1) and self.how.positions != "learned":  # whose table is as long as the words
            self.causal_offset = case.size(0, 4)
            case.option("--causal-offset", self.causal_offset)
        self.draw_word_positions()
        same = all(x is None or len(x) == n_q for x in self.sentences)
        fewest = min([n_k] + [len(x) for x in self.sentences if x is not None and self.memory is None])
        if case.chance(0.2):
            each = case.one_of("all", "query" if len(self.sentences) == 1 else "sentence")
            if each == "all":
                self.valid = [case.size(0 if case.chance(0.1) else 1, fewest)]
            else:
                count = n_q if each == "query" else len(self.sentences)
                self.valid = [case.size(0, fewest) for _ in range(count)]
            case.option("--valid-length", ",".join(map(str, self.valid)))
        if same and case.chance(0.3):
            self.draw_mask(case.one_of(1, n_q), n_k)
        if self.is_masked() and case.chance(0.2):
            how.fill = case.one_of(-1e6, -5.5, 0.0, case.number(-100, 10))
            case.option("--mask-fill=" + repr(how.fill))

    def draw_word_positions(self):
        """Where the words stand: behind earlier keys, from a first position on, or as ids say; and a tree of them."""
        case, how, (n_q, n_k) = self.case, self.how, self.shape
        shared = self.form == "embeddings" and self.memory is None
        in_tree = how.positions.startswith("tree-")
        first, before = 0, 0 if shared else self.causal_offset or 0
        alike = all(x is None or len(x) == n_q for x in self.sentences)
        may_move = how.positions not in ("none", "learned") and not in_tree
        if may_move and alike and case.chance(0.15):
            how.at = [case.size(0, 9) for _ in range(n_q)]
            case.option("--position-ids", " ".join(map(str, how.at)))
            beside = shared or n_q == n_k and before == 0 and self.memory is None
            how.keys_at = how.at if beside else None
        else:
            if may_move and case.chance(0.15):
                first = case.size(0, 9)
                case.option("--first-position", first)
            how.at, how.keys_at = range(first + before, first + before + n_q), range(first, first + n_k)
        if not in_tree:
            return
        words = max(how.at[-1], n_k - 1) + 1
        order = list(case.random.permutation(words))
        how.parents = [0] * words
        for i in range(1, words):
            how.parents[order[i]] = int(order[case.size(0, i - 1)]) + 1
        case.option("--parents", " ".join(map(str, how.parents)))

    def draw_mask(self, rows, columns):
        case = self.case
        if case.chance():
            mask = case.random.random((rows, columns)) < 0.6
            self.mask = mask
            kind = case.one_of("bool", "int", "text", "json")
            if kind == "text":
                word = "; ".join(" ".join("1" if cell else "0" for cell in row) for row in mask)
            elif kind == "json":
                word = case.file("mask.json", str(mask.tolist()).lower().encode())
            else:
                word = case.file("mask.npy", np_bytes(mask if kind == "bool" else mask.astype(np.int8)))
        else:
            self.how.bias = case.normal(rows, columns)
            self.how.bias[case.random.random((rows, columns)) < 0.3] = -np.inf
            word = case.file("mask.npy", np_bytes(self.how.bias))
        case.option("--mask", word)

    def is_masked(self):
        return (self.causal_offset is not None or self.valid is not None or self.mask is not None
                or any(not row.all() for row in getattr(self, "padding", [])))

    def allowed(self, sentence, n_q, n_k):
        """What the masks permit together, or nothing where there are none."""
        allowed = np.ones((n_q, n_k), dtype=bool)
        some = False
        if self.causal_offset is not None:
            some = True
            allowed &= np.arange(n_k)[None, :] <= np.arange(n_q)[:, None] + self.causal_offset
        if self.valid is not None:
            some = True
            batch = len(self.sentences) > 1 and len(self.valid) == len(self.sentences)
            lengths = self.valid[sentence:sentence + 1] if batch else self.valid
            allowed &= np.arange(n_k)[None, :] < np.array(lengths)[:, None]
        elif hasattr(self, "padding") and self.memory is None and not self.padding[sentence].all():
            some = True
            allowed &= self.padding[sentence][None, :]
        if self.mask is not None:
            some = True
            allowed &= self.mask
        return allowed if some else None

    # What it computes

    def compute(self, out):
        for name, matrix in self.p.items():
            out.put(name, matrix)
        for name, matrix in (("memory", self.memory), ("value_memory", self.values), ("position_table", self.how.table),
                             ("score_b", self.how.b)):
            if matrix is not None:
                out.put(name, matrix)
        for i, x in enumerate(self.sentences):
            with out.within(f"sentence.{i + 1}." if len(self.sentences) > 1 else ""):
                self.compute_sentence(out, x, i)

    def compute_sentence(self, out, x, i):
        if self.form == "weights":
            return self.weigh(out, out.put("weights", self.weights))
        if self.form == "scores":
            out.put("scores", self.scores)
            self.mask_in(out, i, *self.shape)
            return self.weigh(out, weights_of(out, self.scores, self.how))
        if x is not None:
            out.put("x", x)
        if self.how.positions in ("sinusoidal", "concatenated", "learned"):
            at = self.how.at[:len(x)]
            positions = self.how.table[at] if self.how.positions == "learned" else waves(*x.shape, self.how.positions, at=at)
            out.put("positions", positions, 1.0)
            x = out.put("positioned", x + positions, x, positions)
        bottom, mixing = x, []
        for layer in range(self.layers):
            with out.within(f"layer.{layer + 1}." if self.layers > 1 else ""):
                x = self.compute_layer(out, x, i)
                mixing.append(out.matrices.get(out.scope + "weights"))
        if self.layers > 1 and self.how.heads == 1 and self.memory is None:
            self.average(out, bottom, mixing)

    def compute_layer(self, out, x, i):
        p, how = self.p, self.how
        if self.form == "queries":
            q, k, v = (out.put(name, getattr(self, name)) for name in "qkv")
        else:
            source = x if self.memory is None else self.memory
            q, k, v = (linear(out, name, of, p["w_" + name], p.get("b_" + name)) for name, of in (
                ("q", x), ("k", source), ("v", source if self.values is None else self.values)))
        self.mask_in(out, i, len(q), len(k))
        output = multi_head(out, q, k, v, how, p.get("w_o"), p.get("b_o"))
        return feed_forward(out, output, p, result="feed_forward") if self.has_feed_forward else output

    def mask_in(self, out, i, n_q, n_k):
        self.how.allowed = self.allowed(i, n_q, n_k)
        if self.how.allowed is not None:
            self.how.allowed = np.broadcast_to(self.how.allowed, (n_q, n_k))
            out.put("mask", self.how.allowed)
        if self.how.bias is not None:
            out.put("bias", np.broadcast_to(self.how.bias, (n_q, n_k)))

    def weigh(self, out, weights):
        if self.v is None:
            return
        v, p = out.put("v", self.v), self.p
        head = weights @ v
        out.put("output", head, weights @ np.abs(v))
        if "w_o" in p:
            out.put("head", head, weights @ np.abs(v))
            out.put("concat", head, weights @ np.abs(v))
            linear(out, "output", head, p["w_o"], p.get("b_o"))

    def average(self, out, x, mixing):
        """The words are mixed once, by the product of all weights, and go through the layers one by one."""
        p = self.p
        with out.within("averaging."):
            for layer in range(self.layers):
                terms = np.abs(x) @ np.abs(p["w_v"])
                x = x @ p["w_v"] + p.get("b_v", 0.0)
                if "w_o" in p:
                    terms = terms @ np.abs(p["w_o"])
                    x = x @ p["w_o"] + p.get("b_o", 0.0)
                last = layer + 1 == self.layers
                with out.within(f"layer.{layer + 1}."):
                    if self.has_feed_forward:
                        x = feed_forward(out, x, p, result="through")
                name = "values" if last else f"through_layer_{layer + 1}"
                out.put(name, x, terms)
            weights = mixing[0]
            for next_weights in mixing[1:]:
                weights = next_weights @ weights
            weights = out.put("weights", weights, 1.0)
            out.product("output", weights, x)


def np_bytes(array):
    import matrices
    return matrices.to_npy(array)


def draw(case):
    """One problem; the command is walk, a step, or one that takes the same."""
    form = case.one_of("queries", "queries", "embeddings", "embeddings", "embeddings", "scores", "weights")
    problem = Problem(case, form)
    if form != "weights":
        problem.draw_masks()
    if form == "queries" and case.chance(0.2):  # labels, which change no number
        case.option("--tokens", " ".join(WORDS[i] for i in range(problem.shape[0])) if problem.shape[0] < 9 else
                    " ".join(f"w{i}" for i in range(problem.shape[0])))
        if case.chance():
            case.option("--key-tokens", ",".join(f"k{i}" for i in range(problem.shape[1])))
    problem.compute(case.expected)
    case.again = case.chance(0.15)
    command = "walk"
    if case.chance(0.25):
        possible = {"queries": ["scores", "scale", "mask", "softmax", "weigh", "heads", "concat"],
                    "scores": ["scale", "mask", "softmax", "weigh"], "weights": ["weigh"],
                    "embeddings": ["project", "scores", "scale", "mask", "softmax", "weigh", "heads", "concat"]}[form]
        if problem.how.heads == 1:
            possible = [step for step in possible if step not in ("heads", "concat")]
        if form == "scores" and problem.v is None:
            possible.remove("weigh")
        if problem.how.positions in ("sinusoidal", "concatenated", "learned"):
            possible.append("add-positions")
        command = case.one_of(*possible)
    case.words.insert(0, command)
    return "steps" if command != "walk" else f"attention: {form}"
