#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "core/attention/watches.hpp"
#include "data/files/json_writer.hpp"
#include "data/problem/problem_file.hpp"
#include "texts.hpp"

namespace attn {

/// A problem and everything that was computed from it.
struct Solution {
  Problem problem;
  Graph graph;

  explicit Solution(Problem given) : problem(std::move(given)) {
    add_computation(problem, graph);
    compute_watched(graph);
  }
  explicit Solution(std::string_view json) : Solution(build_problem(read_problem_file(json, "file.json"))) {}

  const Matrix& operator[](std::string_view name) const { return graph.at(name).matrix(); }
  Shape shape(std::string_view name) const { return graph.at(name).frame.shape; }
};

/// The file of a problem.
inline std::string written(const Problem& problem) {
  return written_by([&](Sink& sink) {
    JsonWriter json(sink);
    write_problem(problem, json);
  });
}

}  // namespace attn
