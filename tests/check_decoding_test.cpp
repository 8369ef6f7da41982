#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "commands_tried.hpp"
#include "core/graph/graph.hpp"
#include "process.hpp"

using namespace attn;

namespace {

constexpr std::size_t words = 5;
using Rows = std::vector<std::vector<double>>;
using Steps = std::map<std::string, Rows>;  // by name: "step.1.k"

std::vector<double> row_as_list(const Matrix& matrix, std::size_t i) {
  const std::span<const double> one = row(matrix, i);
  return {one.begin(), one.end()};
}

// What a decoder with a cache has at each step, cut out of the computation of all words at once.
Steps steps_of(const Graph& graph, std::size_t first_words = 1) {
  Steps all;
  for (std::size_t step = 1, end = first_words; end <= words; ++step, ++end) {
    const std::size_t begin = step == 1 ? 0 : end - 1;
    const auto called = [&](std::string_view name) { return fmt::format("step.{}.{}", step, name); };
    for (std::size_t i = begin; i < end; ++i) {
      for (const std::string_view name : {"x", "q", "output"})
        all[called(name)].push_back(row_as_list(graph.at(name).matrix(), i));
      std::vector<double> weights = row_as_list(graph.at("weights").matrix(), i);
      weights.resize(end);
      all[called("weights")].push_back(std::move(weights));
    }
    for (std::size_t i = 0; i < end; ++i) {
      for (const std::string_view name : {"k", "v"})
        all[called(name)].push_back(row_as_list(graph.at(name).matrix(), i));
    }
  }
  for (const std::string_view name : {"w_q", "w_k", "w_v"}) {
    for (std::size_t i = 0; i < graph.at(name).matrix().shape().rows; ++i)
      all[std::string(name)].push_back(row_as_list(graph.at(name).matrix(), i));
  }
  return all;
}

std::string checked(const Steps& steps, int code, const Words& options = {}) {
  const TemporaryFolder folder;
  Json file;
  for (const auto& [name, rows] : steps) file[name] = rows;
  const ProcessResult page = run_attn(Words{"check", folder.write("steps.json", file.dump())} + options);
  CHECK_MESSAGE(page.code == code, page.out << page.errors);
  return in_one_line(page.out);
}

std::shared_ptr<Graph> decoder() {
  return computation_of("attn walk --text 'a b c d e' --d-model 4 --causal --seed 7");
}

TEST_SUITE("check of a decoder's steps") {
  TEST_CASE("the steps of a right cache agree with the computation of all words") {
    const std::shared_ptr<Graph> graph = decoder();
    for (const std::size_t first : {std::size_t{1}, std::size_t{3}}) {
      const std::string page = checked(steps_of(*graph, first), 0);
      check_has(page, fmt::format("Each of the {} steps agrees with the computation of all words at once.",
                                  words - first + 1));
      check_has(page, "the computation is causal");
    }
  }

  TEST_CASE("the first step that differs is named") {
    Steps steps = steps_of(*decoder());
    steps["step.3.weights"] = {{0.5, 0.5, 0.0}};
    steps["step.4.output"][0][1] += 1.0;
    check_has(checked(steps, 1),
              "The first that differs from the computation of all words at once is step 3, first in weights.");
    const Json page = parse_json(checked(steps, 1, {"--format", "json"}), "page");
    for (const Json& block : page["page"]) {
      if (block["type"] == "records" && block["name"] == "findings") CHECK(block["rows"][0]["step"] == 3);
    }
  }

  TEST_CASE("keys that are appended twice are told with their step") {
    Steps steps = steps_of(*decoder());
    for (const std::size_t step : {3U, 4U, 5U}) {
      Rows& keys = steps[fmt::format("step.{}.k", step)];
      keys.push_back(keys.back());
    }
    const std::string page = checked(steps, 1);
    check_has(page,
              "At step 3, k has 4 rows: a step of this file has one for each new word, 1, or for each word so far, 3.");
    check_has(page, "is step 3, first in k.");
  }

  TEST_CASE("a cache that changes what is in it is told with its step") {
    Steps steps = steps_of(*decoder());
    for (const std::size_t step : {4U, 5U}) steps[fmt::format("step.{}.k", step)][1][0] += 0.5;
    const std::string page = checked(steps, 1);
    check_has(page, "At step 4, row 2 of k is no longer as in step 3: what is in a cache stays as it is.");
    check_has(page, "is step 4, first in k.");
  }

  TEST_CASE("scores that grow with the steps are left out and names may count from 0") {
    Steps steps;
    for (auto& [name, rows] : steps_of(*decoder())) {
      const bool is_step = name.starts_with("step.");
      steps[is_step ? fmt::format("{}_step{}", name.substr(7), name[5] - '1') : name] = rows;
    }
    for (std::size_t step = 0; step < words; ++step)
      steps[fmt::format("scores_step{}", step)] = {std::vector<double>(step + 1, 9.0)};
    const std::string page = checked(steps, 0);
    check_has(page, "scores is not compared: its rows grow with the steps");
    check_has(page, "Each of the 5 steps agrees");
  }
}

}  // namespace
