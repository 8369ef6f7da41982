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

TEST_CASE("a note says of a part of a page that its numbers are random, and of given ones nothing does") {
  for (const Words& words :
       {Words{"softmax", "--text", "a b c", "--only", "weights"}, Words{"transformer", "--only", "distribution"},
        Words{"explain", "weights[1,2]", "--text", "it it the"},
        Words{"walk", "--explain", "weights[1,2]", "--text", "a b"}})
    check_has(accepted(words).errors, "not trained");
  for (const Words& words : {Words{"softmax", "--scores", "1 2; 3 1", "--only", "weights"},
                             Words{"transformer", "--model", "coreference", "--only", "distribution"},
                             Words{"explain", "weights[1,2]", "--scores", "1 2; 3 1"}})
    check_lacks(accepted(words).errors, "random");
}

TEST_CASE("a head that is not there is told by its number") {
  refuses({"softmax", "--head", "3", "--heads", "2", "--text", "a b"}, "there is no head 3: there are 2 heads");
  refuses({"softmax", "--head", "3", "--text", "a b"}, "there is no head 3: ");
}
