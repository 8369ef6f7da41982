#include "command/model/asked_positions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "command/options.hpp"
#include "core/support/error.hpp"
#include "core/support/number.hpp"
#include "data/problem/word_positions.hpp"

namespace attn {
namespace {

// The options that say where the words of a side stand.
struct PositionOptions {
  const Option &first, &ids;
};
constexpr PositionOptions of_own{option::first_position, option::position_ids},
    of_other{option::target_first_position, option::target_position_ids};

std::optional<RowPositions> asked_for(const Arguments& arguments, const PositionOptions& options) {
  return positions_given(arguments, options.first, options.ids);
}

std::string_view given_of(const Arguments& arguments, const PositionOptions& options) {
  return arguments.has(options.ids) ? options.ids.name : options.first.name;
}

// Positions are added to the embeddings of words; vectors that are given are only turned or compared by distance.
bool have_effect(const Transformer& model, const ModelInput& words) {
  const PositionKind& kind = *model.recipe.positions;
  if (kind.of_queries_and_keys || model.sizes.buckets > 0) return true;
  return kind.of_embeddings && !words.x;
}

void take_asked_positions(ModelChoice& choice, ModelInput& words, std::size_t learned, const Arguments& arguments,
                          const PositionOptions& options) {
  const std::optional<RowPositions> positions = asked_for(arguments, options);
  if (!positions) return;
  const std::string_view called = given_of(arguments, options);
  if (words.size() == 0) fail("{} has no effect: the model has no such words", called);
  const Transformer& model = choice.model;
  if (&words == &choice.source && model.has_class_token())
    fail("{}: a model of images has a position for each patch: leave it out", called);
  if (!have_effect(model, words)) {
    choice.remarks.push_back(fmt::format("{} has no effect here: no position is used", called));
    return;
  }
  require_positions(*positions, words.size(), model.most_words(learned), called);
  words.positions = *positions;
}

}  // namespace

void take_positions(ModelChoice& choice, OwnSide own, const Arguments& arguments) {
  const TransformerSizes sizes = choice.model.sizes;
  const bool is_source = own == OwnSide::source;
  take_asked_positions(choice, is_source ? choice.source : choice.target,
                       is_source ? sizes.source_places : sizes.target_places, arguments, of_own);
  if (!is_source && asked_for(arguments, of_own) && asked_for(arguments, of_other)) {
    fail("{} and {} are both given, and this model has words on one side: give one of them",
         given_of(arguments, of_own), given_of(arguments, of_other));
  }
  take_asked_positions(choice, choice.target, sizes.target_places, arguments, of_other);
}

std::size_t positions_needed(const Arguments& arguments, OwnSide own, std::size_t source, std::size_t target) {
  const auto needed = [&](const PositionOptions& options, std::size_t words) {
    const std::optional<RowPositions> positions = asked_for(arguments, options);
    return std::max(words, positions ? positions->largest(words) + 1 : 0);
  };
  const bool is_source = own == OwnSide::source;
  return std::max({is_source ? needed(of_own, source) : source, needed(is_source ? of_other : of_own, target),
                   needed(of_other, target)});
}

std::size_t next_position(const ModelInput& words) {
  const std::size_t count = words.words_of_sentence();
  return words.positions && count > 0 ? (*words.positions)[count - 1] + 1 : count;
}

}  // namespace attn
