#include "school/training/task.hpp"

#include <array>
#include <unordered_set>

#include "core/math/elementary_functions.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/problem/model_words.hpp"

namespace attn {

namespace {

void require_sizes(const Transformer& model) {
  const TransformerSizes& sizes = model.sizes;
  if (sizes.encoder_layers + sizes.decoder_layers == 0)
    fail("--layers is 0: give at least 1, because attention is in the layers");
  if (sizes.heads == 0 || sizes.d_model == 0)
    fail("--heads and --d-model must be positive: a head needs at least one number");
  if (sizes.d_model % sizes.heads != 0)
    fail("--heads: d_model ({}) is not divisible by the number of heads ({})", sizes.d_model, sizes.heads);
  require_groups(sizes.all_heads());
}

// Positions are learned of as many words as go in.
void take_recipe(const TaskRequest& request, TaskSetup& setup, std::string_view task) {
  auto* const model = std::get_if<Transformer>(&setup.model);
  if (!model) fail("the model of the task {} is a recurrent network, which has no recipe: leave it out", task);
  const AskedRecipe& asked = *request.recipe;
  // A gate is a third matrix: with 2/3 of the inner size there are as many parameters as before.  (Shazeer 2020,
  // section 3)
  if (asked.recipe.gated && !model->recipe.gated && !request.sizes.d_ff)
    model->sizes.d_ff = (2 * model->sizes.d_ff + 2) / 3;
  model->recipe = asked.recipe;
  if (!asked.name.empty() && !request.sizes.key_heads && model->sizes.heads > 0)
    model->sizes.key_heads = look_up(named_recipes(), asked.name, "recipe").key_heads(model->sizes.heads);
  const bool learns = asked.recipe.positions->table_shape != nullptr;
  model->sizes.source_places = learns && model->has_encoder() ? setup.data.longest.source : 0;
  model->sizes.target_places = learns && model->kind->decodes ? setup.data.longest.given : 0;
}

// What is asked for must have an effect on the model.
void require_request(const TaskRequest& request, const TrainedModel& model, std::string_view task) {
  if (const auto* const transformer = std::get_if<Transformer>(&model)) {
    require_sizes(*transformer);
    if (!request.variant.empty())
      fail("--variant {}: the model of the task {} is no recurrent network: leave it out", request.variant, task);
    return;
  }
  const SizeChanges& sizes = request.sizes;
  if (sizes.layers || sizes.heads || sizes.key_heads || sizes.d_ff)
    fail(
        "the model of the task {} is a recurrent network without layers and heads: leave out --layers, --heads and --d-ff",
        task);
  if (std::get<EncoderDecoder>(model).state_size == 0) fail("--d-model is 0: a state needs at least one number");
}

void take_architecture(const Architecture& architecture, TrainedModel& model, std::string_view task) {
  if (!architecture_of(model))
    fail("the model of the task {} does not write one sentence from another, so there is no {} model like it", task,
         architecture.name);
  if (!architecture.is_of(model)) model = architecture.like(model);
}

// The different words on one side of a file of pairs, as far as they are few enough.
class CountedWords {
 public:
  CountedWords(std::string_view side, const std::string& where) : side_(side), where_(where) {}

  /// Throws InputError for what is not text, and for too many words.
  void take(const std::string& sentence, std::size_t line) {
    for (std::string& word : split_words(sentence)) words_.insert(std::move(word));
    if (words_.size() <= most_trained_words) return;
    fail("{}, line {}: the {} sentences have more than {} different words: give a file with fewer", where_, line, side_,
         most_trained_words);
  }

 private:
  std::string_view side_;
  const std::string& where_;
  std::unordered_set<std::string> words_;
};

// Those of a file are as large as anybody likes.
void require_sizes(const SizeChanges& sizes) {
  if (sizes.layers.value_or(0) > most_trained_layers)
    fail("--layers {} is more than {}", *sizes.layers, most_trained_layers);
  for (const auto& size : {sizes.heads, sizes.key_heads, sizes.d_model, sizes.d_ff}) {
    if (size.value_or(0) > most_trained_size)
      fail("a model with a size of {} is not trained here: give at most {}", *size, most_trained_size);
  }
}

const ModelKind& kind_called(std::string_view name) { return look_up(model_kinds(), name, "kind of model"); }

}  // namespace

std::vector<TextPair> read_pairs(std::string_view text, const std::string& where) {
  std::vector<TextPair> pairs;
  CountedWords first("first", where), second("second", where);
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (trimmed(line, " \r").empty() || line.front() == '#') continue;
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos || line.find('\t', tab + 1) != std::string_view::npos)
      fail("{}, line {}: a line must be two sentences with one tab between them", where, number);
    TextPair pair{std::string(trimmed(line.substr(0, tab), " \r")), std::string(trimmed(line.substr(tab + 1), " \r"))};
    if (pair.source.empty() || pair.target.empty())
      fail("{}, line {}: a sentence is empty: write words on both sides of the tab", where, number);
    if (pairs.size() == most_pairs)
      fail("{}, line {}: the file has more than {} pairs: give one with fewer", where, number, most_pairs);
    first.take(pair.source, number);
    second.take(pair.target, number);
    pairs.push_back(std::move(pair));
  }
  if (pairs.size() < 2)
    fail("{} has {}: give at least 2, one to train on and one to hold out", where,
         pairs.empty() ? "no pairs" : "1 pair");
  return pairs;
}

std::span<const Task> tasks() {
  // Made when it is asked for: the rows are objects of other files.
  static const std::array table = {reverse_task,         sort_task,  induction_task,
                                   fixed_induction_task, names_task, dates_task,
                                   coreference_task,     pairs_task, text_task};
  return table;
}

TaskSetup set_up(const Task& task, const TaskRequest& request) {
  if (task.needs_pairs && request.pairs.empty())
    fail("attn train {} needs sentences: give --pairs FILE, with two sentences and a tab between them on each line",
         task.name);
  require_sizes(request.sizes);
  TaskSetup setup = task.set_up(request);
  if (request.recipe) take_recipe(request, setup, task.name);
  require_request(request, setup.model, task.name);
  if (request.architecture) take_architecture(*request.architecture, setup.model, task.name);
  const Vocabulary& words = words_out(setup.model);
  setup.choices = words.size() - (id_in(words, start_word) != 0 ? 1 : 0);
  const auto* const transformer = std::get_if<Transformer>(&setup.model);
  setup.defaults.d_model = transformer ? transformer->sizes.d_model : std::get<EncoderDecoder>(setup.model).state_size;
  return setup;
}

std::string example_of(const Task& task, const TaskSetup& setup) {
  return setup.example.empty() ? std::string(task.example) : setup.example;
}

double loss_of_guessing(const TaskSetup& setup) { return elementary::log(static_cast<double>(setup.choices)); }

// --- what several tasks are made of

std::size_t uniform_index(std::size_t count, Generator& generator) {
  return static_cast<std::size_t>(uniform(generator) * static_cast<double>(count));
}

const ModelKind& encoder_only() { return kind_called("encoder-only"); }
const ModelKind& decoder_only() { return kind_called("decoder-only"); }
const ModelKind& both_sides() { return kind_called("encoder-decoder"); }

const RateSchedule& falling_rate() { return look_up(rate_schedules(), "linear", "schedule"); }

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

TransformerSizes with_size_changes(TransformerSizes sizes, const SizeChanges& changes) {
  sizes.encoder_layers = sizes.decoder_layers = changes.layers.value_or(sizes.encoder_layers);
  sizes.heads = changes.heads.value_or(sizes.heads);
  sizes.key_heads = changes.key_heads.value_or(sizes.key_heads);
  sizes.d_model = changes.d_model.value_or(sizes.d_model);
  sizes.d_ff = changes.d_ff.value_or(sizes.d_ff);
  return sizes;
}

}  // namespace attn
