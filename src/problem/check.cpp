#include "problem/check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

void exclude(const Request& request, std::string_view one, std::string_view other) {
  if (!request.has(one) || !request.has(other)) return;
  fail("{} and {} are both given: give one of them", find_row(fields(), one)->option,
       find_row(fields(), other)->option);
}

// Every head of every layer has a handful of matrices with names, which are all kept.
constexpr std::size_t most_heads = 10000;

// What layers are given grows with a number that is typed: the same limit holds as for one matrix.
void check_layers(const Problem& problem) {
  if (problem.layers == 1) return;
  const std::size_t attentions = problem.layers * problem.heads;
  for (const Sequence& sequence : problem.sequences) {
    const std::size_t n = sequence.x ? sequence.x->shape().rows : 1;
    if (n > most_cells / attentions / n) {
      fail("--layers {}: all attention weights together would have more than {} cells: give fewer layers",
           problem.layers, most_cells);
    }
  }
}

void require_inner(const Request& request, const Problem& problem) {
  const auto w_1 = problem.matrices.find("w_1");
  if (!request.has("d_ff") || w_1 == problem.matrices.end()) return;
  const std::size_t asked = request.get<std::size_t>("d_ff"), has = w_1->second.shape().columns;
  if (asked != has)
    fail("--d-ff {} needs {} columns in w_1, which has {}: change one of them", asked, asked, has);
}

// A size that was asked for and a matrix that was given must agree.
void require_asked(const Request& request, std::string_view size, std::size_t heads, std::string_view name,
                   const Matrix& given) {
  if (!request.has(size)) return;
  const std::size_t asked = heads * request.get<std::size_t>(size);
  if (given.shape().columns == asked) return;
  fail("{} {} needs {} columns in {}, which has {}: change one of them", find_row(fields(), size)->option,
       request.get<std::size_t>(size), asked, name, given.shape().columns);
}

}  // namespace

void check_contradictions(const Request& request) {
  exclude(request, "text", "x");
  exclude(request, "text", "tokens");
  exclude(request, "scores", "weights");
  exclude(request, "memory", "memory_text");
  exclude(request, "memory_text", "key_tokens");
  for (const std::string_view name :
       {"x", "text", "q", "k", "n_q", "n_k", "memory", "memory_text", "positions"}) {
    exclude(request, "scores", name);
    exclude(request, "weights", name);
  }
  for (const std::string_view name :
       {"w_q", "w_k", "w_v", "b_q", "b_k", "b_v", "d_ff", "w_1", "b_1", "w_2", "b_2"}) {
    exclude(request, "scores", name);
    exclude(request, "weights", name);
  }
  for (const std::string_view name : {"mask", "causal", "valid_length", "scale"})
    exclude(request, "weights", name);
  for (const std::string_view name : {"q", "k", "v", "x", "text"}) exclude(request, "n_q", name);
  if (request.has("random") && request.get<std::string>("random").find(':') != std::string::npos) {
    exclude(request, "random", "seed");
  }
  for (const char* which : {"q", "k", "v"}) {
    exclude(request, which, fmt::format("w_{}", which));
    exclude(request, which, fmt::format("b_{}", which));
  }
  if (request.has("x") && request.has("q") && request.has("k") && request.has("v")) {
    fail("--q, --k and --v take the place of --x, which is given too: leave out --x");
  }
  if (request.has("d_memory") && !request.has("memory_text")) {
    fail("--d-memory is the size of the vectors of --memory-text, which is not given: give both");
  }
  const std::string_view keys[] = {"memory", "k", "v", "scores", "weights", "n_k"};
  if (request.has("key_tokens") &&
      std::ranges::none_of(keys, [&](std::string_view key) { return request.has(key); })) {
    fail("--key-tokens labels keys that do not come from x: give --memory, --k or --scores");
  }
  if (request.has("embeddings") && !request.has("text")) {
    fail("--embeddings gives the vectors of the words of --text, which is not given: give both");
  }
  if (request.has("position_table") && !request.has("positions")) {
    fail("--position-table needs --positions. Choose one of: learned, relative-bias, relative-vectors");
  }
  if (request.has("no_feed_forward") && request.get<bool>("no_feed_forward")) {
    for (const std::string_view name : {"d_ff", "w_1", "b_1", "w_2", "b_2"}) {
      exclude(request, "no_feed_forward", name);
    }
  }
  if (request.has("n_q") != request.has("n_k")) fail("--n-q and --n-k go together: give both");
}

void check_repeats(const Problem& problem) {
  if (problem.layers > most_heads / problem.heads) {
    fail("--layers {} with --heads {} would have more than {} heads in all: give fewer layers or heads",
         problem.layers, problem.heads, most_heads);
  }
}

void check_sizes(const Request& request, const Problem& problem) {
  check_layers(problem);
  require_inner(request, problem);
  if (const auto& x = problem.sequences.front().x) require_asked(request, "d_model", 1, "x", *x);
  for (const std::string name : {"q", "k", "v", "w_q", "w_k", "w_v"}) {
    const auto found = problem.matrices.find(name);
    if (found == problem.matrices.end()) continue;
    const Matrix& given = found->second;
    require_asked(request, name.ends_with('v') ? "d_v" : "d_k", problem.heads, name, given);
    if (given.shape().columns % problem.heads != 0) {
      fail("the {} columns of {} are not divisible by the number of heads ({}): change --heads",
           given.shape().columns, name, problem.heads);
    }
  }
}

}  // namespace attn
