// Every operation on a sample, with its results and the explanations of some cells, as JSON: what the script
// of a page for browsers has to compute and to say as well.

#include <cstdint>
#include <cstdio>
#include <memory>

#include "../operation_samples.hpp"
#include "core/math/random.hpp"
#include "core/op/operations.hpp"
#include "page/render/derivation_steps.hpp"
#include "school/browser/computation.hpp"
#include "school/browser/script.hpp"

namespace attn {
namespace {

constexpr Notation notation{.precision = 4};

// The lines of a derivation, with the sign before each, and the sentence below them.
void write_explanation(const Cell& cell, JsonWriter& json) {
  json.begin_object();
  json.key("cell");
  json.begin_array();
  json.integer(cell.node->index);
  json.integer(cell.row);
  json.integer(cell.column);
  json.end_array();
  derive(cell, 0, "", [&](const DerivationStep& step) {
    std::vector<std::string> lines;
    for (const WrittenStep& line : steps_of(with_short_sums(step, false), notation))
      lines.push_back(std::string(line.sign()) + " " + line.text);
    json.key("subject");
    json.string(written_subject(step, notation));
    json.key("lines");
    json.strings(lines);
    json.key("reason");
    json.string(step.told_reason);
  });
  json.end_object();
}

void write_sample(const OperationSample& sample, SampleSizes sizes, JsonWriter& json) {
  Graph graph;
  Samples samples(graph, sizes);
  const Value result = name(name_from_text("result"), sample.apply(samples));
  json.begin_object();
  json.key("name");
  json.string(sample.name);
  json.key("computation");
  write_computation(graph, json);
  json.key("explained");
  json.begin_array();
  const Shape shape = result.shape();
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) write_explanation({&result.node(), i, j}, json);
  }
  json.end_array();
  json.end_object();
}

// A matrix that was drawn, with all digits, and how.
void write_drawn(const Matrix& matrix, const DrawnMatrices& drawings, JsonWriter& json) {
  const DrawnFrom& how = *drawings.of(matrix);
  json.begin_object();
  json.key("shape");
  json.begin_array();
  json.integer(matrix.shape().rows);
  json.integer(matrix.shape().columns);
  json.end_array();
  json.key("drawn");
  json.begin_object();
  json.key("seed");
  json.integer(how.seed);
  json.key("name");
  json.string(how.name);
  if (!how.labels.empty()) {
    json.key("labels");
    json.strings(how.labels);
  }
  json.key("byColumn");
  json.boolean(how.by_column);
  json.key("before");
  json.integer(how.before);
  json.key("from");
  json.number(how.from);
  json.key("to");
  json.number(how.to);
  json.end_object();
  json.key("numbers");
  json.begin_array();
  for (const double number : cells(matrix)) json.number(number);
  json.end_array();
  json.end_object();
}

// Of every generator, from the smallest to the largest seed, and past the end of what it makes at once.
void write_draws(JsonWriter& json) {
  json.begin_array();
  const std::vector<std::string> labels{"dog", "Köter", "猫"};
  const std::string long_name(700, 'n');
  for (const RandomKind& kind : random_kinds()) {
    for (const std::uint32_t seed : {0U, 1U, 7U, 20'261'126U, 4'294'967'295U}) {
      RandomSource random(kind, seed);
      const Matrix words = random.vectors({"x", {3, 5}, labels}), large = random.parameter({"w_q", {40, 20}}),
                   last = random.parameter({long_name, {4, 1}}), output = random.parameter({"w", {6, 3}, {}, labels});
      for (const Matrix* matrix : {&words, &large, &last, &output}) write_drawn(*matrix, random.drawings(), json);
    }
  }
  json.end_array();
}

void write_samples(JsonWriter& json) {
  json.begin_object();
  json.key("script");
  json.string(script_of_operations(operations()));
  json.key("draws");
  write_draws(json);
  json.key("samples");
  json.begin_array();
  for (const OperationSample& sample : operation_samples()) {
    for (const SampleSizes sizes : {SampleSizes{2, 3, 4}, SampleSizes{5, 4, 11}, SampleSizes{1, 1, 1}})
      write_sample(sample, sizes, json);
  }
  json.end_array();
  json.end_object();
}

}  // namespace
}  // namespace attn

int main() {
  attn::Sink sink([](std::string_view bytes) { std::fwrite(bytes.data(), 1, bytes.size(), stdout); });
  attn::JsonWriter json(sink);
  attn::write_samples(json);
  sink.flush();
}
