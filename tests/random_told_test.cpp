#include <doctest/doctest.h>

#include "commands_tried.hpp"
#include "core/graph/find.hpp"
#include "page/tell/describe.hpp"

// Statements that follow from random numbers say so themselves.

using namespace attn;

TEST_CASE("what follows from a random input is known from the graph, and what was given is not") {
  const auto drawn = computation_of("attn walk --text 'a b c'");
  CHECK(follows_from_random(drawn->at("weights")));
  CHECK(follows_from_random(drawn->at("x")));
  const auto given = computation_of("attn walk --example thinking-machines");
  CHECK(!follows_from_random(given->at("weights")));
  CHECK(follows_from_random(computation_of("attn encoder --seed 3")->at("encoder.output")));
  CHECK(!follows_from_random(computation_of("attn transformer --model coreference")->at("distribution")));
}

TEST_CASE("a sentence about words from random numbers says so, and no other does") {
  const std::string begin(with_random_numbers);
  for (const Words& words :
       {Words{"walk", "--text", "a b c d"}, Words{"softmax", "--text", "a b c d"}, Words{"map", "--text", "a b c d"},
        Words{"map", "encoder", "--seed", "3"}, Words{"transformer", "--seed", "2"}, Words{"align", "--seed", "2"}})
    check_has(accepted(words).out, begin);
  for (const Words& words :
       {Words{"walk", "--example", "thinking-machines"}, Words{"softmax", "--scores", "1 2; 3 1"},
        Words{"map", "--model", "coreference"}, Words{"transformer", "--model", "coreference"}, Words{"align"}})
    check_lacks(accepted(words).out, begin);
}

TEST_CASE("random words that are written are told as such") {
  check_has(accepted({"generate", "--seed", "2"}).out, "Written with random numbers: ");
  check_lacks(accepted({"generate"}).out, "random");
}
