#include "problem/problem_file.hpp"

#include <cmath>

#include "support/parsed.hpp"

namespace attn {
namespace {

void write_sequences(const std::vector<Sequence>& sequences, JsonWriter& json) {
  const bool batch = sequences.size() > 1;
  if (!sequences.front().tokens.empty()) {
    json.key("tokens");
    if (batch) json.begin_array();
    for (const Sequence& sequence : sequences) json.strings(sequence.tokens);
    if (batch) json.end_array();
  }
  if (sequences.front().x) {
    json.key("x");
    if (batch) json.begin_array();
    for (const Sequence& sequence : sequences) json.matrix(*sequence.x);
    if (batch) json.end_array();
  }
}

}  // namespace

void write_problem(const Problem& problem, JsonWriter& json) {
  json.begin_object();
  if (!problem.title.empty()) {
    json.key("title");
    json.string(problem.title);
  }
  if (!problem.summary.empty()) {
    json.key("summary");
    json.string(problem.summary);
  }
  if (!problem.about.empty()) {
    json.key("about");
    json.strings(problem.about);
  }
  if (!problem.drawn.empty()) {
    json.key("drawn");
    json.strings(problem.drawn);
    json.key("drawn_from");
    json.string(problem.drawn_from);
  }
  write_sequences(problem.sequences, json);
  if (!problem.key_tokens.empty()) {
    json.key("key_tokens");
    json.strings(problem.key_tokens);
  }
  for (const auto& [name, matrix] : problem.matrices) {
    json.key(name);
    json.matrix(matrix);
  }
  json.key("heads");
  json.integer(problem.heads);
  if (problem.layers > 1) {
    json.key("layers");
    json.integer(problem.layers);
    if (!problem.feed_forward) {
      json.key("no_feed_forward");
      json.boolean(true);
    }
  }
  if (problem.positions != "none") {
    json.key("positions");
    json.string(problem.positions);
  }
  json.key("score");
  json.string(problem.score);
  if (problem.score_sigma != 1.0) {
    json.key("score_sigma");
    json.number(problem.score_sigma);
  }
  if (!problem.scale.empty()) {
    json.key("scale");
    if (const std::optional<double> number = parsed<double>(problem.scale)) {
      json.number(*number);
    } else {
      json.string(problem.scale);
    }
  }
  if (problem.causal) {
    json.key("causal");
    json.boolean(true);
  }
  if (problem.mask) {
    json.key("mask");
    json.matrix(problem.mask->matrix);
  }
  if (!problem.valid_lengths.empty()) {
    json.key("valid_length");
    json.begin_array();
    for (const std::size_t length : problem.valid_lengths) json.integer(length);
    json.end_array();
  }
  if (std::isfinite(problem.fill)) {
    json.key("mask_fill");
    json.number(problem.fill);
  }
  json.end_object();
}

std::function<void(JsonWriter&)> recipe_of(std::shared_ptr<const Problem> problem) {
  return [problem = std::move(problem)](JsonWriter& json) { write_problem(*problem, json); };
}

}  // namespace attn
