#include "training/task.hpp"

#include <array>

#include "math/elementary.hpp"
#include "problem/words.hpp"
#include "support/error.hpp"
#include "training/tasks.hpp"

namespace attn {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \r"), last = text.find_last_not_of(" \r");
  return first == std::string_view::npos ? "" : std::string(text.substr(first, last - first + 1));
}

void require_sizes(const Transformer& model) {
  const TransformerSizes& sizes = model.sizes;
  if (sizes.encoder_layers + sizes.decoder_layers == 0)
    fail("--layers is 0: give at least 1, because attention is in the layers");
  if (sizes.heads == 0 || sizes.d_model == 0)
    fail("--heads and --d-model must be positive: a head needs at least one number");
  if (sizes.d_model % sizes.heads != 0)
    fail("--heads: d_model ({}) is not divisible by the number of heads ({})", sizes.d_model, sizes.heads);
}

// What is asked for must have an effect on the model.
void require_request(const TaskRequest& request, const TrainedModel& model, std::string_view task) {
  if (const auto* const transformer = std::get_if<Transformer>(&model)) {
    require_sizes(*transformer);
    if (!request.variant.empty())
      fail("--variant {}: the model of the task {} is no recurrent network: leave it out", request.variant,
           task);
    return;
  }
  const SizeChanges& sizes = request.sizes;
  if (sizes.layers || sizes.heads || sizes.d_ff)
    fail(
        "the model of the task {} is a recurrent network without layers and heads: leave out --layers, "
        "--heads and "
        "--d-ff",
        task);
  if (std::get<EncoderDecoder>(model).state_size == 0)
    fail("--d-model is 0: a state needs at least one number");
}

}  // namespace

std::vector<TextPair> read_pairs(std::string_view text, const std::string& where) {
  std::vector<TextPair> pairs;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (trimmed(line).empty() || line.front() == '#') continue;
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos || line.find('\t', tab + 1) != std::string_view::npos)
      fail("{}, line {}: a line must be two sentences with one tab between them", where, number);
    TextPair pair{trimmed(line.substr(0, tab)), trimmed(line.substr(tab + 1))};
    if (pair.source.empty() || pair.target.empty())
      fail("{}, line {}: a sentence is empty: write words on both sides of the tab", where, number);
    split_words(pair.source);  // throws for what is not text
    split_words(pair.target);
    pairs.push_back(std::move(pair));
  }
  if (pairs.size() < 2)
    fail("{} has {}: give at least 2, one to train on and one to hold out", where,
         pairs.empty() ? "no pairs" : "1 pair");
  return pairs;
}

std::span<const Task> tasks() {
  // Made when it is asked for: the rows are objects of other files.
  static const std::array table = {reverse_task, sort_task,  induction_task,   fixed_induction_task,
                                   names_task,   dates_task, coreference_task, pairs_task};
  return table;
}

namespace {

// Those of a file are as large as anybody likes.
void require_sizes(const SizeChanges& sizes) {
  if (sizes.layers.value_or(0) > most_trained_layers)
    fail("--layers {} is more than {}", *sizes.layers, most_trained_layers);
  for (const auto& size : {sizes.heads, sizes.d_model, sizes.d_ff}) {
    if (size.value_or(0) > most_trained_size)
      fail("a model with a size of {} is not trained here: give at most {}", *size, most_trained_size);
  }
}

}  // namespace

TaskSetup set_up(const Task& task, const TaskRequest& request) {
  if (task.needs_pairs && request.pairs.empty())
    fail(
        "attn train {} needs sentences: give --pairs FILE, with two sentences and a tab between them on each "
        "line",
        task.name);
  require_sizes(request.sizes);
  TaskSetup setup = task.set_up(request);
  require_request(request, setup.model, task.name);
  const Vocabulary& words = words_out(setup.model);
  setup.choices = words.size() - (id_in(words, start_word) != 0 ? 1 : 0);
  const auto* const transformer = std::get_if<Transformer>(&setup.model);
  setup.defaults.d_model =
      transformer ? transformer->sizes.d_model : std::get<EncoderDecoder>(setup.model).state_size;
  return setup;
}

double loss_of_guessing(const TaskSetup& setup) {
  return elementary::log(static_cast<double>(setup.choices));
}

}  // namespace attn
