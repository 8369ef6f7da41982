#include "command/errata/errata.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "command/command.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/problem/problem_file.hpp"
#include "data/problem/words.hpp"
#include "page/tell/describe.hpp"

namespace attn {

// --- errata

namespace {

constexpr std::array errata_table = {
    Erratum{"E1", "Dive into Deep Learning", "masks the weights with −10⁶, not the scores", show_filled_weights,
            "attn compare-masks"},
    Erratum{"E2", "all five texts", "W·x with words as columns, or X·W with words as rows", show_columns_and_rows},
    Erratum{"E3", "Dive into Deep Learning", "α stands for the scores and for the weights made of them",
            show_one_letter_for_two},
    Erratum{"E4", "Dive into Deep Learning / paper notes",
            "additive attention saves computation, or the dot product is faster", show_additive_cost,
            "attn cost --measure"},
    Erratum{"E5", "Dive into Deep Learning",
            "drops ‖k‖² from the Gaussian kernel: exact only if all keys have the same length", show_dropped_norms,
            "attn compare-scores"},
    Erratum{"E6", "cross-attention post", "divides by √n, not by √d_k", show_root_of_length},
    Erratum{"E7", "cross-attention post", "W^q of D × D_v/H, and D_v embeddings of dimension M", show_sizes_of_heads},
    Erratum{"E8", "cross-attention post / others", "splits one projection among the heads, or has one for each head",
            show_split_heads, "attn walk --example eight-heads --outline"},
    Erratum{"E9", "two texts / lecture notes", "the query is s_{t−1} or s_t; additive, scaled or plain dot product",
            show_alignment_variants, "attn align --variant luong"},
    Erratum{"E10", "lecture notes", "o_i = Σ_j α_ij v_i and [α_t; s_t]: correct are v_j and a_t", show_wrong_index},
    Erratum{"E12", "cross-attention post", "the code does not parse, and its softmax can overflow", show_overflow},
    Erratum{"E13", "Dive into Deep Learning / the paper", "the path length of convolutions is n/k, or log_k n",
            show_convolution_paths, "attn cost"},
    Erratum{"E15", "illustrated self-attention",
            "\"Clearly the word at this position will have the highest softmax score\"", show_own_word_not_highest},
    Erratum{"E16", "positions", "sine and cosine columns in turn, or all sines before all cosines",
            show_layouts_of_sinusoids, "attn positions --positions concatenated"},
    Erratum{"E17", "paper notes / much code",
            "layer normalization after the residual connection, or before the sub-layer", show_norm_before_and_after,
            "attn encoder --norm pre"},
    Erratum{"E18", "illustrated self-attention", "\"eight sets for each encoder/decoder\": a decoder layer has 16",
            show_sets_of_a_decoder_layer, "attn parameters --size base"},
    Erratum{"E19", "cross-attention post", "masks embeddings of input elements: correct are scores of target elements",
            show_masked_embeddings, "attn decoder --check-causal"},
    Erratum{"E20", "cross-attention post", "x_i is represented by h_t: correct is h_i", show_index_of_the_state,
            "attn align"},
    Erratum{"E21", "Dive into Deep Learning / paper notes",
            "a position sees outputs up to that position, or before it: both are correct", show_shift_and_mask,
            "attn decoder --check-causal"},
    Erratum{"E22", "cross-attention post / others",
            "the decoder begins with arbitrary values and a discarded output, or with a state from h_n",
            show_first_state, "attn align --section 'The decoder begins'"},
};

Page list_of_errata() {
  Page page;
  page.head(1, "Where published texts err or disagree");
  page.say(
      "The texts: a summary of Dive into Deep Learning (Zhang et al.), chapter 11; an illustrated self-attention; notes on the paper \"Attention Is All You Need\"; a post on cross-attention; lecture notes.");
  Listing listing{{"", "where", "what"}, {}};
  for (const Erratum& row : errata_table) {
    listing.rows.push_back({std::string(row.name), std::string(row.where), std::string(row.what)});
  }
  page.say(std::move(listing));
  page.say(text("The numbers E11 and E14 are not used. To see one with its numbers: ", code("attn errata E6"), "."));
  return page;
}

}  // namespace

std::span<const Erratum> errata() { return errata_table; }

std::vector<OptionChoice> choices::errata() {
  std::vector<OptionChoice> names;
  for (const Erratum& row : attn::errata()) names.push_back({row.name, row.what});
  return names;
}

Answer run_errata(const Command&, const Arguments& arguments) {
  if (arguments.words.empty()) return {list_of_errata()};
  const std::string& name = arguments.words.front();
  const Erratum* found = find_row(errata(), name);
  if (!found) {
    fail("there is no {} (the numbers E11 and E14 are not used). Choose one of: {}", name,
         fmt::join(names_of(errata()), ", "));
  }
  const Erratum& row = *found;
  auto graph = std::make_shared<Graph>();
  Page page;
  page.head(1, fmt::format("{} ({}): {}", row.name, row.where, row.what));
  row.demonstrate(page, *graph);
  if (!row.more.empty()) page.say(text("See also ", code(std::string(row.more)), "."));
  return {.page = std::move(page), .computation = {graph}};
}

// --- demonstration

void show(Page& page, const std::vector<Value>& values) {
  std::vector<const Node*> nodes;
  for (const Value& value : values) nodes.push_back(&value.node());
  add_results(page, nodes);
  page.trace.add(nodes);
}

void solve_example(std::string_view name, Graph& graph) {
  const Example& example = look_up(examples(), name, "example");
  evaluate(build(read_problem_file(example.json, std::string(name))), graph);
}

Value at(Graph& graph, std::string_view name) { return Value(graph.at(name)); }

Value small_numbers(Graph& graph, const Name& name, Shape shape) {
  Matrix matrix(shape);
  int k = static_cast<int>(graph.nodes().size());
  for (double& cell : cells(matrix)) cell = (k++ * 7 % 11 - 4) / 4.0;
  return graph.input(name, std::move(matrix), axis("rows"), axis("columns"));
}

Value row_of_numbers(Graph& graph, const Name& name, const std::vector<double>& numbers) {
  Matrix matrix({1, numbers.size()});
  std::ranges::copy(numbers, cells(matrix).begin());
  return graph.input(name, std::move(matrix), axis("queries"), axis("keys"));
}

double sum_of_row(const Value& value, std::size_t i) {
  const std::span<const double> cells = row(value.matrix(), i);
  return std::accumulate(cells.begin(), cells.end(), 0.0);
}

}  // namespace attn
