#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attention/watches.hpp"
#include "command/errata/demonstration.hpp"
#include "command/errata/errata.hpp"
#include "op/operations.hpp"
#include "problem/encoder_decoder_file.hpp"
#include "problem/words.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

// The built-in translator with the post's network: s_{t−1} is the query, and [c_t; s_t] predicts.
EncoderDecoder network_of_the_post() {
  const EncoderDecoderFile file =
      read_encoder_decoder(alignment_examples().front().bytes, "the built-in example");
  return encoder_decoder_of(file, look_up(alignment_variants(), "scaled-dot", "variant"),
                            recurrences().front());
}

std::string words_of(const Ids& ids, const Vocabulary& vocabulary) {
  std::vector<std::string> words;
  for (const std::size_t id : ids) words.push_back(vocabulary[id - 1]);
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

void show_first_state(Page& page, Graph& graph) {
  const EncoderDecoder model = network_of_the_post();
  const Ids source = ids_of(split_words("la maison blanche est petite <end>"), model.source_words, "source");
  const Ids target = translate(model, source, source.size() + 2);
  evaluate(model, source, target, graph);
  page.say(
      "Both can be correct, because they count differently. The post counts from 1: it sets c_1 = h_n and "
      "s_1 to arbitrary values, and discards the output o_1. Others count from 0: s_0 = tanh(h_n W_s + b_s), "
      "and no output belongs to s_0. The post's s_1 is this s_0. In its network a context enters only the "
      "output beside it, not the next state. So c_1 has an effect on o_1 alone, and o_1 is discarded. The "
      "built-in translator would discard this output after \"la maison blanche est petite\":");
  const auto of_decoder = [&](const Role& role) { return Value(graph.at({{scope::decoder}, role})); };
  const Value state(graph.at({{scope::decoder, {scope::number, 0}}, role::state})), h(graph.at(role::h));
  const Value first_context = name(Name{role::other, "c_1"}, rows(h, source.size() - 1, 1));
  const Value first_output =
      name(Name{role::other, "o_1"},
           softmax(add(matmul(concatenate({first_context, state}), of_decoder(role::w_o)),
                       of_decoder(role::b_o))));
  show(page, {first_output});
  page.say(
      "But s_1 is the query for the first output that is kept, so its values can change that output. The "
      "translation with the state that was chosen, and with s_1 = 0 instead:");
  EncoderDecoder from_zero = model;
  for (const Role* role : {&role::w_s, &role::b_s}) {
    std::shared_ptr<const Matrix>& matrix =
        from_zero.parameters.find(Name({scope::decoder}, *role).text())->second;
    matrix = std::make_shared<const Matrix>(matrix->shape(), 0.0);
  }
  const auto row_of = [&](std::string begins, const EncoderDecoder& translator) {
    const Ids words = translate(translator, source, source.size() + 2);
    const double probability = distributions(translator, source, words)(0, words.front() - 1);
    return std::vector<std::string>{std::move(begins), words_of(words, model.target_words),
                                    fmt::format("{:.4f}", probability)};
  };
  page.say(Listing{{"s_1", "translation", "probability of word 1"},
                   {row_of("as chosen", model), row_of("zeros", from_zero)},
                   true});
}

}  // namespace attn
