#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include "core/support/text.hpp"
#include "data/parameters/config.hpp"
#include "data/parameters/families.hpp"
#include "data/parameters/layout_text.hpp"
#include "testing.hpp"

using namespace attn;

namespace {

constexpr std::string_view place = "model/config.json";

ModelConfig config_of(const Json& file) { return read_config(file.dump(), std::string(place)); }

Json llama(const Json& more = Json::object()) {
  Json file = {{"model_type", "llama"}, {"num_attention_heads", 4}, {"num_hidden_layers", 3}};
  file.update(more);
  return file;
}

// What a config says of a recipe.
ModelRecipe recipe_of(const Json& file) {
  const ModelConfig config = config_of(file);
  ModelRecipe recipe;
  for (const ImpliedField& field : config.brings) field.field->take(recipe, field.value, std::string(place));
  return recipe;
}

void refused(const Json& file, std::string_view sentence) {
  const std::string told = refusal([&] { config_of(file); });
  CAPTURE(told);
  CHECK(told.find(sentence) != std::string::npos);
  CHECK(told.starts_with(place));
}

}  // namespace

TEST_CASE("every family has layouts, or says what of it is not read, and no name twice") {
  std::set<std::string_view> types;
  for (const ModelFamily& family : model_families()) {
    CAPTURE(family.type);
    CHECK(types.insert(family.type).second);
    CHECK(family.layouts.empty() != family.unread.empty());
    for (const std::string_view layout : family.layouts)
      CHECK(std::ranges::find(layouts(), layout, &Layout::name) != layouts().end());
    ModelRecipe recipe;
    for (const ImpliedField& field : family.brings) CHECK_NOTHROW(field.field->take(recipe, field.value, "it"));
  }
  for (const Layout& layout : layouts()) {
    CAPTURE(layout.name);
    ModelRecipe recipe;
    for (const ImpliedField& field : layout.brings) CHECK_NOTHROW(field.field->take(recipe, field.value, "it"));
  }
}

namespace {

// A layout and a recipe, with one word in place of another.
void read_layout(const std::string& word = "", const std::string& other = "") {
  std::string text =
      "[layout A model]\nsections=all before=model. attention=some recipe=one tied=no\nbefore=\n"
      "[all]\nlayers.#. decoder.# !\n  attn. self_attention @$attention\n- decoder ! : norm. norm weight gamma !\n"
      "[some]\nq.weight w_q T | qkv.bias b_q,b_k,b_v ? in-turn\n"
      "[recipe one]\nnorm=pre causal_decoder=yes tied_output=$tied\nconfig: epsilon=1e-5\n";
  if (!word.empty()) {
    REQUIRE(text.find(word) != std::string::npos);
    text.replace(text.find(word), word.size(), other);
  }
  const LayoutText layouts(text);
  layouts.layouts();
  layouts.recipe("one");
}

}  // namespace

TEST_CASE("a misspelled name in a text of layouts is found when it is read") {
  CHECK_NOTHROW(read_layout());
  const std::pair<const char*, const char*> mistakes[] = {
      {"=all", "=al"},           {"=some", "=som"},
      {"=one", "=on"},           {"decoder.#", "decodr.#"},
      {" decoder !", " code !"}, {"self_attention", "self"},
      {"@$att", "@$at"},         {"w_q", "w_p"},
      {"b_q,", "b_q,,"},         {" T", " U"},
      {"in-turn", "turn"},       {"norm=", "norms="},
      {"=yes", "=true"},         {"1e-5", "small"},
      {"gamma", "w_q"},          {"[some]", "[all]"},
      {" : ", " :: "},           {"causal_", "like=two causal_"},
  };
  for (const auto& [word, other] : mistakes) {
    CAPTURE(word);
    CHECK_THROWS_AS(read_layout(word, other), std::logic_error);
  }
}

TEST_CASE("all that layouts.txt names is there, and all that is there is named") {
  const std::string text(layout_text());
  const std::set<std::string_view> settings = {"sections", "outside",  "before",    "recipe",
                                               "sizes",    "left_out", "silent_on", "like"};
  std::string block;
  for (const std::string_view line : split_at(text, '\n')) {
    if (line.starts_with("//")) continue;
    CAPTURE(line);
    if (line.starts_with('[')) block = std::string(line.substr(1, line.find(']') - 1));
    const bool is_layout = block.starts_with("layout "), is_recipe = block.starts_with("recipe ");
    const std::string name = is_recipe ? block.substr(7) : block;
    const bool is_of_family = std::ranges::find(model_families(), name, &ModelFamily::recipe) != model_families().end();
    const bool is_used =
        text.find("@" + name + "\n") != std::string::npos || text.find("=" + name) != std::string::npos;
    CHECK((is_layout || is_used || is_of_family || block == "lone_norm"));
    for (const std::string& word : split_at_any(is_layout && !line.starts_with('[') ? line : "", " ")) {
      const std::string key = word.substr(0, word.find('='));
      CHECK((settings.contains(key) || text.find("$" + key) != std::string::npos));
    }
    const std::size_t open = line.starts_with('[') ? std::string_view::npos : line.find('$');
    if (open == std::string_view::npos) continue;
    const std::string name_left_open(line.substr(open + 1, line.find_first_of(" .?", open) - open - 1));
    CHECK(text.find(" " + name_left_open + "=") != std::string::npos);
  }
}

TEST_CASE("a family that is not read is named, with what of it is not read") {
  const auto of_type = [](std::string_view type) { return Json{{"model_type", type}, {"num_attention_heads", 4}}; };
  refused(of_type("mixtral"), "this is Mixtral: experts are not read yet");
  refused(of_type("gpt_oss"), "this is gpt-oss: experts and attention sinks are not read yet");
  refused(of_type("mamba"), "this is Mamba: state spaces are not read yet");
  refused(of_type("something"), "this is a model of the family 'something', which is not read yet");
  refused(Json::object(), "does not say which model it is");
  refused({{"model_type", "llama"}}, "does not say how many heads there are");
}

TEST_CASE("what a config does not say is as in the reference implementation") {
  const ModelRecipe recipe = recipe_of(llama());
  CHECK(recipe.epsilon == 1e-6);
  CHECK(recipe.base == 1e4);
  CHECK(recipe.positions->name == "rotary-halves");
  CHECK_FALSE(recipe.tied_output);
  CHECK(recipe.window == 0.0);
  CHECK(recipe_of(llama({{"model_type", "mistral"}})).window == 4096.0);
  CHECK(recipe_of(llama({{"model_type", "mistral"}, {"sliding_window", nullptr}})).window == 0.0);
  CHECK(recipe_of(llama({{"model_type", "qwen2"}, {"sliding_window", 16}})).window == 0.0);
  const ModelRecipe gemma = recipe_of(llama({{"model_type", "gemma2"}}));
  CHECK(gemma.score_cap == 50.0);
  CHECK(gemma.logit_cap == 30.0);
  CHECK(gemma.window_layers == "1, 3");
  CHECK(gemma.scale == "16");
  CHECK(gemma.tied_output);
  CHECK(recipe_of(llama({{"model_type", "gemma2"}, {"attn_logit_softcapping", nullptr}})).score_cap == 0.0);
}

TEST_CASE("layers with a window are those that a config names, or those of the family") {
  const auto layers = [](const Json& more) { return recipe_of(llama(more)).window_layers; };
  CHECK(layers({{"model_type", "gemma3_text"}, {"sliding_window_pattern", 2}}) == "1, 3");
  CHECK(layers({{"model_type", "gemma3_text"},
                {"layer_types", {"full_attention", "sliding_attention", "full_attention"}}}) == "2");
  CHECK(layers({{"model_type", "qwen2"}, {"use_sliding_window", true}, {"max_window_layers", 1}}) == "2, 3");
  CHECK(layers({{"model_type", "mistral"}}) == "all");
  const Json neo = {{"model_type", "gpt_neo"}, {"num_heads", 2}, {"num_layers", 3}};
  CHECK(recipe_of(neo).window_layers == "2");
  CHECK(recipe_of(neo).window == 256.0);
  refused(llama({{"model_type", "qwen3"}, {"layer_types", {"linear_attention"}}}),
          "layers of the kind 'linear_attention' are not read yet");
  refused(llama({{"model_type", "qwen3"}, {"layer_types", {"sliding_attention"}}}),
          "\"layer_types\" has 1 kind, and the config says that there are 3 layers: give one for each layer");
  refused(llama({{"quantization_config", {{"quant_method", "gptq"}}}}), "are quantized in a way that is not read yet");
}

TEST_CASE("what would change the numbers and is not read is refused by name") {
  refused(llama({{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 4.0}}}}),
          "the scaling 'yarn' of rotary positions is not read yet");
  refused(llama({{"rope_scaling", {{"type", "longrope"}}}}), "'longrope'");
  refused(llama({{"rope_parameters", {{"rope_type", "dynamic"}}}}), "'dynamic'");
  refused(llama({{"rope_scaling", {{"type", "linear"}}}}), "has no \"factor\"");
  refused(llama({{"hidden_act", "relu6"}}), "the activation 'relu6' is not read yet");
  refused({{"model_type", "gpt2"}, {"n_head", 2}, {"scale_attn_by_inverse_layer_idx", true}},
          "\"scale_attn_by_inverse_layer_idx\" is true, which is not read yet");
  const ModelRecipe llama3 = recipe_of(llama({{"rope_scaling",
                                               {{"rope_type", "llama3"},
                                                {"factor", 8.0},
                                                {"low_freq_factor", 1.0},
                                                {"high_freq_factor", 4.0},
                                                {"original_max_position_embeddings", 8192}}}}));
  CHECK(llama3.scaling.factor == 8.0);
  CHECK(llama3.scaling.words == 8192.0);
}

TEST_CASE("an object of rotary positions under both of its names must say the same twice") {
  const Json linear = {{"type", "linear"}, {"factor", 2.0}};
  const auto both = [&](const Json& parameters) {
    return llama({{"rope_theta", 500.0}, {"rope_scaling", linear}, {"rope_parameters", parameters}});
  };
  constexpr std::string_view sentence =
      "\"rope_scaling\" and \"rope_parameters\" are two names of one setting, and they say different things: leave out "
      "one of them";
  refused(both({{"rope_type", "default"}, {"rope_theta", 3.0}}), sentence);
  refused(both({{"rope_type", "linear"}, {"factor", 2.0}, {"rope_theta", 3.0}}), sentence);
  refused(both({{"rope_type", "linear"}, {"factor", 4.0}}), sentence);
  const ModelRecipe same = recipe_of(both({{"factor", 2.0}, {"rope_type", "linear"}, {"rope_theta", 500.0}}));
  CHECK(same.scaling.factor == 2.0);
  CHECK(same.base == 500.0);
  CHECK(recipe_of(both(nullptr)).scaling.factor == 2.0);
}
