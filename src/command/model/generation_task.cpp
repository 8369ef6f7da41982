#include "command/model/generation_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "support/error.hpp"
#include "support/number.hpp"

namespace attn {
namespace {

constexpr std::size_t usual_steps = 8, most_steps = 4096;

double number_of(const Arguments& arguments, const std::string& option, double usual, double most) {
  const std::optional<std::string> text = arguments.text(option);
  if (!text) return usual;
  double value = 0.0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  const bool read = error == std::errc() && end == text->data() + text->size();
  if (!read || !std::isfinite(value) || value <= 0.0 || value > most) {
    fail("--{} must be a number above 0 and at most {}, and is '{}'", option, most, *text);
  }
  return value;
}

std::size_t steps_asked(const Arguments& arguments) {
  return arguments.count("steps", 1, most_steps).value_or(usual_steps);
}

// There are only so many learned positions; the last word written does not go in.
std::size_t steps_of(const Transformer& model, const ModelInput& prompt, const Arguments& arguments) {
  const std::size_t asked = steps_asked(arguments), places = model.sizes.target_places;
  if (model.positions != "learned" || places == 0) return asked;
  if (prompt.size() > places) {
    fail("the text has {}, but the model has learned only {}: give fewer words",
         count_of(prompt.size(), "word"), count_of(places, "position"));
  }
  return std::min(asked, places - prompt.size() + 1);
}

// With --only, all that is remembered may be kept at every step; without the cache every step has a mask.
void require_moderate(const ModelChoice& choice, const GenerationTask& task, const Arguments& arguments) {
  const TransformerSizes& sizes = choice.model.sizes;
  const double words = static_cast<double>(words_without_cache(task, task.steps));
  const double longest = static_cast<double>(task.prompt.size() + task.steps);
  const double caches = words * static_cast<double>(4 * sizes.decoder_layers * sizes.d_model);
  const double masks = words * longest * static_cast<double>(task.cache == Cache::none);
  if (masks + (arguments.has("only") ? caches : 0.0) <= static_cast<double>(most_cells)) return;
  fail("{} steps would keep too many numbers with {}: give fewer --steps", task.steps,
       task.cache == Cache::none ? "--no-cache" : "--only");
}

}  // namespace

Sampling sampling_of(const Arguments& arguments) {
  constexpr double most_temperature = 1e6;
  Sampling sampling{.temperature = number_of(arguments, "temperature", 1.0, most_temperature),
                    .top_k = arguments.count("top-k", 1, most_cells).value_or(0),
                    .top_p = number_of(arguments, "top-p", 1.0, 1.0)};
  const bool samples = arguments.has("temperature") || arguments.has("top-k") || arguments.has("top-p") ||
                       arguments.has("sample");
  if (!samples && arguments.has("sample-seed")) {
    fail("--sample-seed belongs to --sample, --temperature, --top-k or --top-p: give one of them");
  }
  if (samples) {
    sampling.generator.emplace(static_cast<std::uint32_t>(
        arguments.count("sample-seed", 0, std::numeric_limits<std::uint32_t>::max()).value_or(1)));
  }
  return sampling;
}

GenerationTask generation_task(const ModelChoice& choice, const Arguments& arguments) {
  if (choice.memory || choice.target.x) {
    fail("attn generate needs words, but the target has no embeddings here, or is given as vectors");
  }
  GenerationTask task{.prompt = choice.target};
  task.steps = steps_of(choice.model, task.prompt, arguments);
  task.end = id_in(choice.model.target_vocabulary, end_word);
  task.cache = arguments.has("no-cache") ? Cache::none : Cache::kept;
  require_moderate(choice, task, arguments);
  return task;
}

std::size_t words_without_cache(const GenerationTask& task, std::size_t steps) {
  return steps * task.prompt.size() + steps * (steps - 1) / 2;
}

std::optional<std::string> remark_on_steps(const GenerationTask& task, const Arguments& arguments) {
  if (!arguments.has("steps") || steps_asked(arguments) == task.steps) return std::nullopt;
  return fmt::format("only {} steps are possible, because the model has learned {}", task.steps,
                     count_of(task.prompt.size() + task.steps - 1, "position"));
}

}  // namespace attn
