#include "problem/examples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "command/command.hpp"
#include "problem/encoder_decoder_file.hpp"
#include "problem/problem_file.hpp"
#include "problem/transformer_file.hpp"
#include "support/lookup.hpp"

namespace attn {
namespace {

// Something that is built in, as it is listed and described.
struct BuiltIn {
  std::string name;
  std::string title, summary;
  std::vector<std::string> about;
  std::vector<std::string> commands;  // that show it
};

BuiltIn built_in(const Example& example) {
  const OptionValues values = read_problem_file(example.json, std::string(example.name));
  return {std::string(example.name),
          *values.text(option::title),
          *values.text(option::summary),
          values.texts(option::about),
          {fmt::format("attn walk --example {}", example.name)}};
}

BuiltIn built_in_transformer(const ModelExample& example) {
  const std::string name(example.name);
  const Transformer model = read_transformer(example.bytes, name).model;
  BuiltIn shown{name, model.title, model.summary, model.about, {}};
  if (model.kind->decodes) shown.commands.push_back("attn generate --model " + name);
  shown.commands.push_back("attn walk --model " + name);
  shown.commands.push_back("attn map --model " + name);
  return shown;
}

BuiltIn built_in_alignment(const ModelExample& example) {
  const EncoderDecoderFile file = read_encoder_decoder(example.bytes, std::string(example.name));
  BuiltIn shown{file.where, file.title, file.title, file.about, {"attn align --model " + file.where}};
  for (const std::string& paragraph : file.numbers) shown.about.push_back(paragraph);
  return shown;
}

template <class Row>
void add_all(std::vector<BuiltIn>& all, std::span<const Row> rows, BuiltIn (*shown)(const Row&)) {
  for (const Row& row : rows) all.push_back(shown(row));
}

void add_list(Page& page, std::string_view what, const std::vector<BuiltIn>& all) {
  Listing listing{{std::string(what), "what it shows"}, {}};
  for (const BuiltIn& row : all) listing.rows.push_back({row.name, row.summary});
  page.say(std::move(listing));
}

std::vector<BuiltIn> all_models() {
  std::vector<BuiltIn> all;
  add_all(all, model_examples(), built_in_transformer);
  add_all(all, alignment_examples(), built_in_alignment);
  return all;
}

Outcome listed() {
  std::vector<BuiltIn> all;
  add_all(all, examples(), built_in);
  Page page;
  add_list(page, "example", all);
  page.say(text("To see one: ", code("attn walk --example NAME"), "."));
  page.head(2, "Models");
  add_list(page, "model", all_models());
  page.say(text("To read about one, and how to see it: ", code("attn examples NAME"), "."));
  return {std::move(page)};
}

}  // namespace

Outcome run_examples(const Command&, const Arguments& arguments) {
  if (arguments.words.empty()) return listed();
  std::vector<BuiltIn> all;
  add_all(all, examples(), built_in);
  std::ranges::move(all_models(), std::back_inserter(all));
  const BuiltIn& shown = look_up(std::span<const BuiltIn>(all), arguments.words.front(), "example");
  Page page;
  page.head(1, shown.title);
  if (shown.summary != shown.title) page.say(text(shown.summary));
  for (const std::string& paragraph : shown.about) page.say(text(paragraph));
  for (const std::string& command : shown.commands) page.say(text("To see it: ", code(command), "."));
  return {std::move(page)};
}

std::vector<OptionChoice> choices::built_in() {
  std::vector<OptionChoice> names = choices::examples();
  for (const auto& more : {choices::models(), choices::alignments()})
    names.insert(names.end(), more.begin(), more.end());
  return names;
}

}  // namespace attn
