#include "training/tasks.hpp"

#include "support/lookup.hpp"

namespace attn {
namespace {

const ModelKind& kind_called(std::string_view name) {
  return look_up(model_kinds(), name, "kind of model");
}

}  // namespace

std::size_t any_of(std::size_t count, Generator& generator) {
  return static_cast<std::size_t>(uniform(generator) * static_cast<double>(count));
}

const ModelKind& encoder_only() {
  return kind_called("encoder-only");
}
const ModelKind& decoder_only() {
  return kind_called("decoder-only");
}
const ModelKind& both_sides() {
  return kind_called("encoder-decoder");
}

const RateSchedule& falling_rate() {
  return look_up(rate_schedules(), "linear", "schedule");
}

ModelRecipe recipe_with(std::string_view norm, std::string_view norm_kind, std::string_view positions) {
  ModelRecipe recipe;
  recipe.norm = &look_up(norm_placements(), norm, "placement of norms");
  recipe.norm_kind = &look_up(norm_kinds(), norm_kind, "kind of norm");
  recipe.positions = &look_up(position_kinds(), positions, "kind of positions");
  return recipe;
}

Transformer one_sided(const ModelKind& kind, const Vocabulary& words, const TransformerSizes& sizes,
                      const ModelRecipe& recipe) {
  Transformer model{.kind = &kind, .recipe = recipe, .sizes = sizes, .target_vocabulary = words};
  model.sizes.target_words = words.size();
  if (kind.encodes) {
    model.source_vocabulary = words;
    model.sizes.source_words = words.size();
    model.sizes.decoder_layers = 0;
  } else {
    model.sizes.encoder_layers = 0;
  }
  return model;
}

TransformerSizes changed(TransformerSizes sizes, const SizeChanges& changes) {
  sizes.encoder_layers = sizes.decoder_layers = changes.layers.value_or(sizes.encoder_layers);
  sizes.heads = changes.heads.value_or(sizes.heads);
  sizes.d_model = changes.d_model.value_or(sizes.d_model);
  sizes.d_ff = changes.d_ff.value_or(sizes.d_ff);
  return sizes;
}

}  // namespace attn
