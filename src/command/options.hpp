#pragma once

#include "core/math/matrix.hpp"
#include "data/problem/problem_options.hpp"

namespace attn {

namespace choices {
std::vector<OptionChoice> formats();
std::vector<OptionChoice> placements();
std::vector<OptionChoice> norms();
std::vector<OptionChoice> positions_of_models();
std::vector<OptionChoice> variants();
std::vector<OptionChoice> cells();
std::vector<OptionChoice> kinds();
std::vector<OptionChoice> kinds_with_decoder();
// Those that a line of help names by itself have no summaries.
std::vector<OptionChoice> alignments();
std::vector<OptionChoice> sizes();
std::vector<OptionChoice> colors();
std::vector<OptionChoice> themes();
std::vector<OptionChoice> math_marks();
std::vector<OptionChoice> schedules();
std::vector<OptionChoice> tasks();
std::vector<OptionChoice> architectures();
std::vector<OptionChoice> recorders();
std::vector<OptionChoice> recipes();
std::vector<OptionChoice> annotations();
}  // namespace choices

namespace rules {
inline constexpr NumberRule not_negative{"neither 0 nor a positive number",
                                         [](double x) { return x >= 0.0 && x <= largest; }};
inline constexpr NumberRule temperature{"not a number above 0 and at most 1000000",
                                        [](double x) { return x > 0.0 && x <= 1e6; }};
inline constexpr NumberRule below_one{"neither 0 nor a number between 0 and 1",
                                      [](double x) { return x >= 0.0 && x < 1.0; }};
inline constexpr NumberRule share{"not a number above 0 and at most 1", [](double x) { return x > 0.0 && x <= 1.0; }};
}  // namespace rules

/// The most words in a sentence that a model is run on.
inline constexpr std::size_t most_words = 10000;

/// The options of commands, beside those of problems. Those that several commands have are in a list of
/// options.cpp; the others are in the entry of their command.
namespace option {

constexpr Option text_of(std::string_view name, std::string_view member, std::string_view placeholder,
                         std::string_view words) {
  return {name, member, Kind::text, placeholder, words};
}

// clang-format off

// Which matrices are shown, and how.
inline constexpr Option
    only            = Option{"--only", "", Kind::texts, "PATTERN",
                               "show only matrices whose names match; separate several with |: 'weights|head.2.*'"}
                            .of_matrices(),
    one_head        = Option{"--head", "", Kind::count, "N", "show only the matrices of head N of each attention"},
    explain         = text_of("--explain", "", "CELL", "explain one number, such as 'weights[1,2]'").of_matrices(),
    product         = text_of("--product", "", "NAME",
                                "draw a matrix product with its factors: 'scores', or 'scores[1,2]'").of_matrices(),
    map             = flag("--map", "", "where each head attends, how concentrated it is, and its strongest pairs"),
    page            = flag("--page", "",
                             "write a page for browsers, in which every number can be explained and changed"),
    assertion       = text_of("--assert", "", "LAWS",
                                "hold laws to the matrices, such as 'row_sums(weights) = 1; causal(weights)'"),
    trace           = path("--trace", "", "matrices of a file that attn, or another program, has written"),
    tolerance       = number("--tolerance", "", "how far apart two numbers may be that count as equal",
                               rules::not_negative, "give a small one, such as 1e-6").or_else("1e-9"),
    backward        = flag("--backward", "", "the gradients, step by step from a loss back to what goes in"),
    influence       = flag("--influence", "", "which numbers depend on which, and how strongly, by exact gradients"),
    of              = Option{"--of", "", Kind::text, "NAME",
        "number whose gradients are taken, such as 'output[2,1]', or a matrix: the sum of its numbers"}.of_matrices(),
    by              = Option{"--by", "", Kind::text, "CELL",
                               "number that others depend on, such as 'x[2,1]', or a row: 'x[2]'"}.of_matrices(),
    upstream        = Option{"--upstream", "", Kind::matrix, "MATRIX",
                               "gradient of a loss with respect to the output, or to the matrix of --of"},
    against         = path("--against", "",
        "compare these matrices with those of a file, and find mistakes; exit code 1 if one differs"),
    as              = text_of("--as", "", "NAME",
                                "what the matrix is in the computation, if its file does not name it: --as weights"),
    strict          = flag("--strict", "",
                             "exit code 1 for conventions, rounded steps and supposed settings as well"),
    each            = flag("--each", "",
        "compare each file by itself, or each of a folder: a line for each; exit code 1 if one differs"),
    recorder        = word("--recorder", "",
                             "code that saves what a module or a function took and made, for attn check")
                            .with_placeholder("WHAT").from(choices::recorders),
    input           = flag("--input", "",
                             "write an input with which no mistake stays hidden that can be shown: -o input.npz"),
    check_gradients = flag("--check", "",
                             "compare every gradient with finite differences; exit code 1 if one disagrees"),
    recompute       = flag("--recompute", "",
                             "keep only what goes into each layer and compute the rest again: memory and time"),
    by_hand         = flag("--by-hand", "",
                             "every number with its multiplications, and one step that changes the parameters"),
    step_size       = number("--step-size", "", "size of that step: how much of the gradient is subtracted",
                               rules::positive, "give a small one, such as 0.1").or_else("0.1"),
    left            = Option{"--left", "", Kind::matrix, "MATRIX", "left factor of a product"},
    right           = Option{"--right", "", Kind::matrix, "MATRIX", "right factor of a product"},
    above           = Option{"--above", "", Kind::matrix, "MATRIX",
                               "matrix whose rows come first, such as cached keys"},
    below           = Option{"--below", "", Kind::matrix, "MATRIX", "matrix whose rows follow, such as new keys"},
    chosen_cell     = text_of("--cell", "", "I,J", "cell whose products are shown, by numbers or words"),
    depth           = count("--depth", "", "explain the terms too, N steps back towards inputs and parameters")
                            .or_else("0").from_zero().up_to(1000),
    code            = flag("--code", "", "how any number of the matrix is made, and what makes it in xtensor"),
    outline         = flag("--outline", "", "a diagram, and the tree of matrices with shapes and costs"),
    by_word         = text_of("--by-word", "", "WORD", "show the steps for one word, with vectors"),
    swap            = text_of("--swap", "", "I,J",
                                "swap two words: what changes without and with positional encoding"),
    transpose       = flag("--transpose", "", "show the weights transposed: keys as rows, queries as columns"),
    from            = text_of("--from", "", "WORD", "show the weights of one query in every head, and their average"),
    at              = text_of("--at", "", "WORD",
                                "position that is looked at: its word or its number (default the last one)"),
    logit_word      = text_of("--word", "", "WORD",
                                "show what each head and each feed-forward layer adds to the logit of this word"),
    sweep           = text_of("--sweep", "", "N,…",
                                "divide by one number after another, to see how the weights saturate"),
    n               = count("--n", "n", "number of positions"),
    columns         = text_of("--columns", "", "I,…", "columns to plot as curves").or_else("1,2,3,4"),
    d               = count("--d", "", "size of the vector at each position"),
    kernel          = count("--kernel", "", "width of the convolution, in positions").or_else("3"),
    measure         = flag("--measure", "", "measure how long each takes on this machine");

// Layer normalization.
inline constexpr Option
    gamma   = matrix("--gamma", role::gamma, "scale γ, one row").or_else("ones"),
    beta    = matrix("--beta", role::beta, "shift β, one row").or_else("zeros"),
    epsilon = number("--epsilon", "epsilon", "ε, a small number that avoids division by 0", rules::not_negative,
                     "give a small one, such as 1e-5").or_else("1e-5");

// Cross-entropy.
inline constexpr Option
    logits  = matrix("--logits", role::logits, "logits: a row for each position, a column for each word")
                  .or_else("'2 1 0; 0 1 3'"),
    targets = Option{"--targets", "targets", Kind::counts, "N,…",
                     "right word of each row: the number of its column, from 1 (in PyTorch from 0)"}.or_else("1,2");

// Models: what they are, and what they are run on.
inline constexpr Option
    size                = word("--size", "size", "size of a random model: tiny, or base as in the paper")
                              .or_else("tiny").from(choices::sizes),
    recipe              = word("--recipe", "recipe",
                               "how the models of a time compute: several of the options below at once")
                              .with_placeholder("RECIPE").or_else("2017").from(choices::recipes),
    norm                = word("--norm", "norm", "where the layers normalize").with_placeholder("WHERE").or_else("post")
                              .from(choices::placements),
    norm_kind           = word("--norm-kind", "norm_kind", "kind of normalization").with_placeholder("KIND")
                              .or_else("layer").from(choices::norms),
    no_bias             = flag("--no-bias", "no_bias", "no biases and no β in a random model"),
    unscaled_embeddings = flag("--unscaled-embeddings", "unscaled_embeddings",
                               "do not multiply embeddings by √d_model"),
    tied_output         = flag("--tied-output", "tied_output",
                               "use the transposed target embedding as the output layer"),
    single              = flag("--single", "single", "single precision: round each result to float32"),
    not_causal          = flag("--not-causal", "not_causal", "no causal mask: words attend to later words as well")
                              .or_not("causal");

// Which keys the words of a model attend to.
inline constexpr Option
    target_mask         = Option{"--target-mask", "target_mask", Kind::matrix, "MATRIX",
                                 "the same as --mask for the target words"}.as_mask(),
    memory_mask         = Option{"--memory-mask", "memory_mask", Kind::matrix, "MATRIX",
                                 "the same for the cross-attention: a row for each target word, or one"}.as_mask(),
    target_key_mask     = Option{"--target-key-mask", "target_key_mask", Kind::matrix, "MATRIX",
                                 "the same as --key-mask for the target words"}.as_key_mask(),
    memory_key_mask     = Option{"--memory-key-mask", "memory_key_mask", Kind::matrix, "MATRIX",
        "the same for the cross-attention: one row, with a column for each row of the encoder output"}.as_key_mask(),
    target_valid_length = Option{"--target-valid-length", "target_valid_length", Kind::counts, "N,…",
                                 "the same as --valid-length for the target words"}.from_zero(),
    memory_valid_length = Option{"--memory-valid-length", "memory_valid_length", Kind::counts, "N,…",
                                 "target words attend only to the first N rows of the encoder output"}.from_zero();

// Where the target words of a model stand.
inline constexpr Option
    target_first_position = count("--target-first-position", "target_first_position",
                                  "the same as --first-position for the target words").or_else("0").from_zero()
                                .up_to(largest_position),
    target_position_ids   = Option{"--target-position-ids", "target_position_ids", Kind::matrix, "IDS",
                                   "the same as --position-ids for the target words"};

inline constexpr Option
    kind            = word("--kind", "kind", "kind of model: encoder-decoder or decoder-only")
                          .or_else("encoder-decoder").from(choices::kinds_with_decoder),
    save_parameters = path("--save-parameters", "", "save the parameters to a .safetensors or .npz file"),
    source          = text_of("--source", "source", "SENTENCE", "source words, for the encoder; <blank> is padding"),
    target          = text_of("--target", "target", "SENTENCE",
                              "target words; the decoder receives them shifted right by one"),
    target_x        = Option{"--target-x", "target_x", Kind::matrix, "MATRIX",
                             "vectors to use instead of target words"},
    check_causal    = flag("--check-causal", "",
                           "check the causal mask: change later words and compare earlier outputs");

// What a model writes.
inline constexpr Option
    steps       = count("--steps", "steps", "maximum number of words").or_else("8").up_to(4096),
    no_cache    = flag("--no-cache", "no_cache", "recompute the keys and values of all target words at every step"),
    sample      = flag("--sample", "sample",
                       "sample each word from the distribution instead of taking the most probable"),
    temperature = number("--temperature", "temperature", "divide the logits by T before the softmax, and sample",
                         rules::temperature, "give one such as 0.5").with_placeholder("T"),
    beams       = count("--beams", "beams",
                        "beam search: keep the N most probable texts at each step, and write the best").up_to(64),
    top_k       = count("--top-k", "top_k", "sample from the K most probable words").with_placeholder("K")
                        .up_to(most_cells),
    top_p       = number("--top-p", "top_p",
                         "sample from the smallest set of most probable words with total probability P or more",
                         rules::share, "give one such as 0.9").with_placeholder("P"),
    sample_seed = count("--sample-seed", "sample_seed", "seed for sampling words").or_else("1").from_zero()
                      .up_to(std::numeric_limits<std::uint32_t>::max());

// Recurrent encoder-decoders.
inline constexpr Option
    by_length = flag("--by-length", "", "translate all sentences that come with the model: correct ones by length"),
    variant   = word("--variant", "variant", "kind of attention").or_else("bahdanau").from(choices::variants),
    cell      = word("--cell", "cell", "recurrent cell").or_else("tanh").from(choices::cells),
    hidden    = count("--hidden", "hidden", "hidden size and embedding size of random matrices").or_else("4")
                    .up_to(65536);

// What cuts a text into pieces.
inline constexpr Option
    text_file      = path("--text-file", "", "read the text from a file; - is standard input"),
    texts_file     = path("--texts", "", "cut many texts: a file with a JSON string on each line; - is standard input"),
    learn          = count("--learn", "", "learn a byte-level BPE with N pieces from the text, and show its merges")
                         .up_to(1'000'000),
    save_tokenizer = path("--save-tokenizer", "", "save the tokenizer that was learned, as a tokenizer.json"),
    no_special     = flag("--no-special", "", "leave out the special tokens around a text");

// Training. What a field of TrainingOptions says has its name as member.
inline constexpr Option
    batch      = count("--batch", "batch", "number of sentences in a step").or_else(": that of the task").up_to(4096),
    rate       = number("--rate", "rate", "learning rate", rules::positive, "give one such as 0.001")
                     .or_else(": that of the task"),
    warm_up    = count("--warm-up", "warm_up", "steps over which the learning rate grows from 0")
                     .or_else(": that of the task").from_zero(),
    schedule   = word("--schedule", "schedule", "how the learning rate changes after the warm-up")
                     .or_else(": that of the task").from(choices::schedules),
    clip       = number("--clip", "clip", "largest norm of all gradients together; 0: any", rules::not_negative,
                        "give one such as 1").or_else(": that of the task"),
    smoothing  = number("--smoothing", "smoothing", "label smoothing: probability that is spread over all words",
                        rules::below_one, "give one such as 0.1").or_else(": that of the task"),
    dropout    = number("--dropout", "dropout",
                        "dropout: probability with which a number is left out in a step of training", rules::below_one,
                        "give one such as 0.1").or_else(": that of the task"),
    examples   = count("--examples", "examples", "train on only N different sentences, again and again")
                     .or_else(": any").up_to(10'000),
    every      = count("--every", "evaluate_every", "steps between two points of the curve")
                     .or_else(": that of the task"),
    pairs      = path("--pairs", "", "file of pairs to learn: on each line a sentence, a tab, and what to make of it"),
    subwords   = count("--subwords", "subwords",
                       "learn so many subwords from the text, at least 257, in place of its characters")
                     .up_to(std::size_t{1} << 15),
    window     = count("--window", "window", "pieces of the text that the model is given at a time").or_else("64")
                     .up_to(1024),
    save       = path("--save", "", "save the model with all that is needed to go on (.safetensors)"),
    save_model = path("--save-model", "", "save the model alone, half as large (.safetensors)"),
    save_steps = Option{"--save-steps", "", Kind::counts, "N,…",
                        "save it after these steps too, each in a file of its own beside that of --save"}.from_zero(),
    resume     = path("--resume", "", "go on with what --save has written"),
    watch      = flag("--watch", "",
                      "show the loss, the weights of a head and an example while it learns, on a terminal"),
    head       = text_of("--head", "", "PATTERN", "the weights that --watch shows").or_else(": those of the last head"),
    compare    = Option{"--compare", "", Kind::counts, "N,…", "show the weights on the same sentence after these steps"}
                     .from_zero(),
    beside     = word("--beside", "", "train a model of another architecture too, and compare both at equal effort")
                     .with_placeholder("KIND").from(choices::architectures);

// Lessons and files.
inline constexpr Option
    state        = path("--state", "", "file of the progress").or_else("~/.local/state/attn/lessons.json"),
    no_input     = flag("--no-input", "", "print the whole lesson at once, with the answers"),
    answers      = path("--answers", "",
        "mark the answers in a file, one on each line, or in each file of a folder; exit code 1 if one is wrong"),
    worksheet    = flag("--worksheet", "", "leave out the answers and what shows them, with room to write"),
    with_answers = flag("--with-answers", "", "add the answers; in HTML and Markdown they are unfolded by a click"),
    mistake      = Option{"--mistake", "", Kind::texts, "NAME",
                          "draw problems in which this mistake shows, by the name that attn check says"},
    problems     = count("--count", "", "number of problems").or_else("10").up_to(1000),
    step         = count("--step", "", "begin at this step"),
    set          = Option{"--set", "", Kind::texts, "NAME=…",
                          "set numbers of a puzzle: 'w_q = 1 0; 0 1', or one cell: 'w_q[1,2] = 3'"},
    yes          = flag("--yes", "", "reset, or replace a file, without asking"),
    annotate     = word("--annotate", "",
                        "a line for each block that is not current: as GitHub marks it, or FILE:LINE: SENTENCE")
                       .with_placeholder("WAY").from(choices::annotations),
    key          = text_of("--key", "", "NAME", "name of the matrix, if the file has several");

// clang-format on

// How a page is written.
inline constexpr Option output = [] {
  Option row = path("--output", "", "-o FILE: write to this file; its ending chooses the format");
  row.letter = 'o';
  return row;
}();
inline constexpr Option width = [] {
  Option row = count("--width", "", "width of the output in columns; large matrices are shortened to fit");
  row.least = 20;
  return row.up_to(100000);
}();
// clang-format off
inline constexpr Option
    format        = word("--format", "", "one of the formats listed below").or_else("text").from(choices::formats),
    precision     = count("--precision", "", "maximum number of decimals").or_else("4").from_zero().up_to(15),
    full          = flag("--full", "", "show all rows and columns"),
    section       = text_of("--section", "", "NAME",
                            "show only sections whose heading begins with NAME; separate several with |"),
    no_labels     = flag("--no-labels", "", "leave out the labels of rows and columns in CSV and TSV"),
    heading_level = count("--heading-level", "", "level of the highest heading, from 1 to 6; 0: no headings")
                        .from_zero().up_to(6),
    math          = word("--math", "", "how Markdown marks formulas: dollars, or fences that GitHub and GitLab render")
                        .with_placeholder("MARKS").or_else("dollars").from(choices::math_marks),
    standalone    = flag("--standalone", "", "write LaTeX or TikZ as a whole document"),
    shading       = flag("--shading", "", "shade the cells of tables in LaTeX"),
    ascii         = flag("--ascii", "", "use only ASCII characters in tables, symbols and messages"),
    color         = word("--color", "", "use colors: always, never or auto").with_placeholder("WHEN").or_else("auto")
                        .from(choices::colors),
    theme         = word("--theme", "", "background of the terminal, or of a picture: dark, light or auto")
                        .or_else("auto").from(choices::themes),
    transparent   = flag("--transparent", "", "leave out the background of a picture"),
    no_pager      = flag("--no-pager", "", "do not pause after each screen"),
    threads       = count("--threads", "", "number of threads for large matrices").or_else(": one for each processor")
                        .up_to(256),
    say_input     = flag("--say-input", "",
                         "show above the page what was read, and what was assumed where a file does not say it"),
    short_help    = flag("-h", "", "show the options of this command"),
    version       = flag("--version", "", "versions of the program and of its libraries"),
    help          = flag("--help", "", "show all options, also those that many commands share");
// clang-format on

}  // namespace option

/// The options that every command takes: how the page is written.
const OptionGroup& output_options();

/// The options that choose among the matrices of a page: those of commands that show some.
const OptionGroup& matrix_options();

/// The options that show attention weights in another form.
const OptionGroup& weight_options();

/// The option that makes a page for browsers of what is computed, and what such a page has no use for.
const OptionGroup& browser_options();

/// Why they exclude each other. {} is the other option.
inline constexpr std::string_view page_for_browsers_is_all =
    "a page for browsers is HTML with the whole computation: leave out {}";

/// The options that compare what is computed with a file.
const OptionGroup& comparison_options();

/// The options that ask for gradients.
const OptionGroup& gradient_options();

/// The options that choose a model, its sizes, its parameters and its words.
const OptionGroup& model_options();

/// Those among them that choose how a model computes.
std::span<const Option* const> recipe_options();

}  // namespace attn
