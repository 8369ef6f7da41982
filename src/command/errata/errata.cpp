#include "command/errata/errata.hpp"

#include <fmt/format.h>

#include <array>

#include "command/command.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

constexpr std::array table = {
    Erratum{"E1", "D0", "fills the weights with −10⁶ and not the scores", "attn compare-masks", nullptr},
    Erratum{"E2", "D0, D4 / D1–D3", "W·x with words as columns, or X·W with words as rows", "attn errata E2",
            show_columns_and_rows},
    Erratum{"E3", "D0", "α stands for the scores and for the weights made of them", "attn errata E3",
            show_one_letter_for_two},
    Erratum{"E4", "D0 / D2", "additive attention saves computation, or the dot product is faster",
            "attn cost", nullptr},
    Erratum{"E5", "D0", "drops ‖k‖² from the Gaussian kernel: exact only where all keys are equally long",
            "attn compare-scores", nullptr},
    Erratum{"E6", "D3", "divides by √n and not by √d_k", "attn errata E6", show_root_of_length},
    Erratum{"E7", "D3", "W^q of D × D_v/H, and D_v embeddings of dimension M", "attn errata E7",
            show_sizes_of_heads},
    Erratum{"E8", "D3 / D0–D2", "splits one projection among the heads, or has one for each",
            "attn compare-scores", nullptr},
    Erratum{"E9", "D0, D3 / D4", "the query is s_{t−1} or s_t; additive, scaled or plain dot product",
            "attn align --variant luong", nullptr},
    Erratum{"E10", "D4", "o_i = Σ_j α_ij v_i and [α_t; s_t]: it is v_j, and a_t", "attn errata E10",
            show_wrong_index},
    Erratum{"E12", "D3", "the snippet does not parse, and its softmax overflows", "attn errata E12",
            show_overflow},
    Erratum{"E13", "D0 / the paper", "the path through convolutions is n/k, or log_k n", "attn cost",
            nullptr},
    Erratum{"E15", "D1", "\"the word at this position will have the highest score\"", "attn errata E15",
            show_own_word_not_highest},
    Erratum{"E16", "positions", "sine and cosine interleaved, or one after the other", "attn errata E16",
            show_layouts_of_sinusoids},
    Erratum{"E17", "D2 / much code", "normalises after the residual connection, or before the sub-layer",
            "attn errata E17", show_norm_before_and_after},
};

Page list_of_errata() {
  Page page;
  page.head(1, "Where the documents err or disagree");
  page.say(
      text("D0: a book's chapter on attention, in summary. D1: an illustrated self-attention. D2: notes on "
           "\"Attention Is All You Need\". D3: a post on cross-attention. D4: lecture notes."));
  Listing listing{{"", "where", "shown by", "what"}, {}};
  for (const Erratum& row : table) {
    listing.rows.push_back(
        {std::string(row.name), std::string(row.where), std::string(row.command), std::string(row.what)});
  }
  page.say(std::move(listing));
  return page;
}

}  // namespace

std::span<const Erratum> errata() {
  return table;
}

Outcome run_errata(const Command&, const Arguments& arguments) {
  if (arguments.words.empty()) return {list_of_errata()};
  const Erratum& row = look_up(errata(), arguments.words.front(), "erratum");
  auto graph = std::make_shared<Graph>();
  Page page{.graph = graph, .problem = nullptr, .trace = {}, .blocks = {}};
  page.head(1, fmt::format("{} ({}): {}", row.name, row.where, row.what));
  if (row.demonstrate) {
    row.demonstrate(page, *graph);
  } else {
    page.say(text("The numbers are in ", code(std::string(row.command)), "."));
  }
  return {std::move(page)};
}

}  // namespace attn
