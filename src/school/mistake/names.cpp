#include "school/mistake/names.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <utility>

#include "core/support/number.hpp"
#include "core/support/text.hpp"

namespace attn {

// --- model places

namespace {

// What people call a scope of a model, as a plain name.
struct CalledScope {
  std::string_view name;
  const ScopeKind* kind;
};

constexpr std::array sides = {CalledScope{"encoder", &scope::encoder}, CalledScope{"enc", &scope::encoder},
                              CalledScope{"decoder", &scope::decoder}, CalledScope{"dec", &scope::decoder}};

// A longer name stands before one that it begins with.
constexpr std::array parts = {
    CalledScope{"selfattention", &scope::self_attention},
    CalledScope{"selfattn", &scope::self_attention},
    CalledScope{"crossattentions", &scope::cross_attention},
    CalledScope{"crossattention", &scope::cross_attention},
    CalledScope{"crossattn", &scope::cross_attention},
    CalledScope{"attentions", &scope::self_attention},
    CalledScope{"attention", &scope::self_attention},
    CalledScope{"attn", &scope::self_attention},
    CalledScope{"mha", &scope::self_attention},
    CalledScope{"feedforward", &scope::feed_forward},
    CalledScope{"ffn", &scope::feed_forward},
    CalledScope{"ff", &scope::feed_forward},
    CalledScope{"mlp", &scope::feed_forward},
    CalledScope{"layernorm", &scope::norm},
    CalledScope{"norm", &scope::norm},
    CalledScope{"ln", &scope::norm},
};

constexpr std::array<std::string_view, 6> layer_words = {"layers", "layer", "blocks", "block", "h", "l"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Words and numbers: "layer1_attn" is layer, 1 and attn.
std::vector<std::string> words_and_numbers(std::string_view name) {
  std::vector<std::string> all;
  bool begins = true;
  for (const char c : in_lower_case(name)) {
    const bool is_letter = c >= 'a' && c <= 'z';
    if (!is_letter && !is_digit(c)) {
      begins = true;
      continue;
    }
    if (begins || is_digit(all.back().back()) != is_digit(c)) all.emplace_back();
    all.back() += c;
    begins = false;
  }
  return all;
}

}  // namespace

std::optional<PlaceInModel> place_in_model(std::string_view name) {
  const std::vector<std::string> words = words_and_numbers(name);
  PlaceInModel place;
  std::size_t behind = 0;  // the words that say side and layer
  for (std::size_t i = 0; i + 1 < words.size() && !place.layer; ++i) {
    const std::optional<std::size_t> layer = parsed<std::size_t>(words[i + 1]);
    if (!layer || std::ranges::find(layer_words, words[i]) == layer_words.end()) continue;
    place.layer = *layer;
    behind = i + 2;
  }
  for (std::size_t i = 0; i < words.size() && (!place.layer || i + 2 < behind); ++i) {
    const auto side = std::ranges::find(sides, std::string_view(words[i]), &CalledScope::name);
    if (side == sides.end()) continue;
    place.side = side->kind;
    if (!place.layer) behind = i + 1;
  }
  for (std::size_t after = behind; after < words.size(); ++after) place.leaf += words[after];
  const auto part =
      std::ranges::find_if(parts, [&](const CalledScope& one) { return place.leaf.starts_with(one.name); });
  if (part == parts.end()) return place.layer ? std::optional(place) : std::nullopt;
  place.part = part->kind;
  place.leaf.erase(0, part->name.size());
  if (part->kind == &scope::norm && !place.leaf.empty() && is_digit(place.leaf.front())) {
    place.number = static_cast<std::size_t>(place.leaf.front() - '0');
    place.leaf.erase(0, 1);
  }
  return place;
}

bool lies_at(const Node& node, const PlaceInModel& place, std::size_t first) {
  const NamedScope* const layer = node.within(scope::number);
  if (place.layer && (!layer || !layer->number || *layer->number != *place.layer + 1 - first)) return false;
  if (place.side && !node.within(*place.side)) return false;
  if (!place.side && !node.within(scope::encoder) && !node.within(scope::decoder)) return false;
  const NamedScope* const part = place.part ? node.within(*place.part) : nullptr;
  return !place.part || (part && (!place.number || part->number == place.number));
}

// --- others names

std::string plain_name(std::string_view name) {
  std::string letters;
  for (const char c : in_lower_case(name)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0) letters += c;
  }
  return letters;
}

namespace {

constexpr std::string_view digit_characters = "0123456789";

// What others call a role, and which it may be, the likeliest first.
struct Spelling {
  std::string_view name;
  std::vector<const Role*> roles;
};

const std::vector<Spelling>& spellings() {
  using namespace role;
  static const std::vector<Spelling> table = [] {
    std::vector<Spelling> all;
    const auto add = [&](std::vector<const Role*> roles, std::initializer_list<std::string_view> names) {
      for (const std::string_view name : names) all.push_back({name, roles});
    };
    add({&x, &positioned}, {"x", "input", "inputs", "embeddings", "embedding", "emb", "embedded", "xs"});
    add({&w_q}, {"wquery", "queryweight", "qweight", "queryprojection"});
    add({&w_k}, {"wkey", "keyweight", "kweight", "keyprojection"});
    add({&w_v}, {"wvalue", "valueweight", "vweight", "valueprojection"});
    add({&w_o}, {"wout", "woutput", "outweight", "oweight", "outputprojection"});
    add({&q, &query}, {"q", "query", "queries", "qs"});
    add({&k}, {"k", "key", "keys", "ks"});
    add({&v}, {"v", "value", "values", "vs"});
    add({&scores, &scaled, &capped, &masked},
        {"scores", "score", "attnscores", "attentionscores", "dots", "dotproducts", "qk", "qkt", "energy", "energies",
         "rawscores", "similarity", "attnlogits", "attentionlogits"});
    add({&masked, &scaled, &scores}, {"hookattnscores"});  // of TransformerLens
    add({&q}, {"hookq"});
    add({&k}, {"hookk"});
    add({&v}, {"hookv"});
    add({&head, &concat, &output}, {"hookz"});
    add({&logits, &scores, &scaled, &capped, &masked}, {"logits"});
    add({&scaled, &capped, &masked}, {"scaled", "scaledscores", "scoresscaled", "scaledattentionscores"});
    add({&masked}, {"masked", "maskedscores", "scoresmasked"});
    add({&weights, &alignment},
        {"weights",    "attn",    "attention",    "attnweights", "attentionweights", "attnoutputweights",
         "a",          "p",       "probs",        "attnprobs",   "attentionprobs",   "alpha",
         "alphas",     "softmax", "attentionmap", "attnmap",     "attentionmatrix",  "w",
         "attentions", "pattern", "hookpattern"});
    add({&output, &context}, {"output", "out", "outputs", "y", "result"});
    // Some call so what is not projected yet.
    add({&output, &concat, &context}, {"attnoutput", "attentionoutput", "attnout", "o", "z"});
    // What others call so is not projected yet; without heads and w_o it is the output.
    add({&context, &concat, &head, &output},
        {"context", "contextvector", "contextlayer", "ctx", "contextvec", "attended", "weightedvalues"});
    add({&head, &output}, {"headoutput", "headoutputs", "headout", "outputheads"});
    add({&concat, &head}, {"concatenated", "concatheads", "merged", "multihead"});
    add({&role::mask}, {"attnmask", "attentionmask"});
    add({&positions}, {"pe", "posenc", "positionalencoding", "positionalencodings", "posemb", "pos"});
    add({&positioned}, {"xpos", "xpe", "xwithpositions", "withpositions"});
    add({&mean}, {"mu", "means"});
    add({&variance}, {"var", "variances", "sigma2"});
    add({&normalised}, {"normalized", "xhat", "norm"});
    add({&inner}, {"ffn1", "linear1", "hidden"});
    add({&rectified, &activated}, {"relu", "activated", "activation"});
    add({&feed_forward}, {"ff", "ffn", "mlp"});
    add({&distribution}, {"probabilities", "outputprobs", "probs"});
    add({&losses, &loss}, {"crossentropy", "nll"});
    for (const Role* one : roles()) {
      const auto same = [&](const Spelling& row) { return row.name == plain_name(one->leaf); };
      if (!one->leaf.empty() && std::ranges::none_of(all, same)) all.push_back({one->leaf, {one}});
    }
    return all;
  }();
  return table;
}

// A linear layer of PyTorch, by the last words of its name in a state dictionary, as plain names. What ends in .weight
// or .bias is one of its parameters.
struct LinearLayer {
  std::array<const Role*, 1> weight;
  std::array<const Role*, 1> bias;
  std::vector<std::string_view> names;
};

const std::vector<LinearLayer>& linear_layers() {
  using namespace role;
  static const std::vector<LinearLayer> table = {
      {{&w_q}, {&b_q}, {"q",           "query",           "queries",     "wq",  "wquery",    "wqueries", "qproj",
                        "queryproj",   "queryprojection", "projq",       "toq", "toqueries", "qlin",     "qlinear",
                        "querylinear", "linearq",         "linearquery", "fcq", "fcquery",   "linears0"}},
      {{&w_k}, {&b_k}, {"k",         "key",           "keys",      "wk",  "wkey",   "wkeys",   "kproj",
                        "keyproj",   "keyprojection", "projk",     "tok", "tokeys", "klin",    "klinear",
                        "keylinear", "lineark",       "linearkey", "fck", "fckey",  "linears1"}},
      {{&w_v}, {&b_v}, {"v",           "value",           "values",      "wv",  "wvalue",   "wvalues", "vproj",
                        "valueproj",   "valueprojection", "projv",       "tov", "tovalues", "vlin",    "vlinear",
                        "valuelinear", "linearv",         "linearvalue", "fcv", "fcvalue",  "linears2"}},
      {{&w_o},
       {&b_o},
       {"o",
        "out",
        "output",
        "wo",
        "wout",
        "woutput",
        "oproj",
        "outproj",
        "outputproj",
        "outprojection",
        "outputprojection",
        "projo",
        "toout",
        "toout0",
        "outlin",
        "outlinear",
        "linearo",
        "linearout",
        "fco",
        "fcout",
        "proj",
        "projection",
        "dense",
        "unifyheads",
        "linears3"}},
      {{&w_1},
       {&b_1},
       {"w1", "linear1", "lin1", "fc1", "ff1", "dense1", "ffn0", "ff0", "mlp0", "net0", "feedforward0"}},
      {{&w_2}, {&b_2}, {"w2", "linear2", "lin2", "fc2", "ff2", "dense2", "ffn2", "mlp2", "net2", "feedforward2"}},
  };
  return table;
}

// The linear layer that a name without .weight or .bias says, by its last word or its last two.
const LinearLayer* linear_layer_called(std::string_view stem) {
  std::size_t dot = stem.rfind('.');
  for (int words = 0; words < 2; ++words) {
    const std::string plain = plain_name(dot == std::string_view::npos ? stem : stem.substr(dot + 1));
    for (const LinearLayer& layer : linear_layers()) {
      if (std::ranges::find(layer.names, plain) != layer.names.end()) return &layer;
    }
    if (dot == std::string_view::npos || dot == 0) return nullptr;
    dot = stem.rfind('.', dot - 1);
  }
  return nullptr;
}

constexpr std::string_view weight_of_linear = ".weight", bias_of_linear = ".bias";

std::span<const Role* const> role_in_linear_layer(std::string_view name) {
  for (const std::string_view end : {weight_of_linear, bias_of_linear}) {
    if (!name.ends_with(end)) continue;
    const LinearLayer* const layer = linear_layer_called(name.substr(0, name.size() - end.size()));
    if (layer) return end == weight_of_linear ? layer->weight : layer->bias;
  }
  return {};
}

// "grad_q", "q_grad" and "dq" are d_q.
std::pair<std::string, bool> without_gradient(const std::string& name) {
  for (const std::string_view word : {"gradient", "grad"}) {
    if (name.starts_with(word)) return {name.substr(word.size()), true};
    if (name.ends_with(word)) return {name.substr(0, name.size() - word.size()), true};
  }
  return {name, false};
}

}  // namespace

std::vector<Reading> readings_of(std::string_view name) {
  if (const std::span<const Role* const> roles = role_in_linear_layer(name); !roles.empty())
    return {{.roles = roles, .scope = "", .is_gradient = false}};
  std::vector<std::pair<std::size_t, Reading>> all;  // behind how much of the name says the role
  const auto add = [&](const std::string& letters, bool is_gradient) {
    // "attn_2" and "head2_attn" are the second head's.
    const std::size_t digits = letters.find_last_not_of(digit_characters) + 1;
    for (const Spelling& row : spellings()) {
      const std::string spelled = plain_name(row.name);
      if (letters.ends_with(spelled))
        all.push_back({spelled.size(), {row.roles, letters.substr(0, letters.size() - spelled.size()), is_gradient}});
      if (digits == letters.size() || digits == 0) continue;
      for (const std::string_view of_head : {"head", "h", ""}) {
        const std::string begin = spelled + std::string(of_head);
        if (letters.substr(0, digits) == begin)
          all.push_back({spelled.size(), {row.roles, "head" + letters.substr(digits), is_gradient}});
      }
    }
  };
  const std::string letters = plain_name(name);
  const auto [rest, is_gradient] = without_gradient(letters);
  add(rest, is_gradient);
  if (!is_gradient && letters.starts_with('d')) add(letters.substr(1), true);
  std::ranges::stable_sort(all, std::greater(), [](const auto& one) { return one.first; });
  std::vector<Reading> readings;
  for (auto& [said, reading] : all) readings.push_back(std::move(reading));
  return readings;
}

std::span<const Role* const> roles_called(std::string_view name) {
  if (const std::span<const Role* const> roles = role_in_linear_layer(name); !roles.empty()) return roles;
  const std::string letters = plain_name(name);
  const auto found =
      std::ranges::find_if(spellings(), [&](const Spelling& row) { return plain_name(row.name) == letters; });
  return found == spellings().end() ? std::span<const Role* const>() : found->roles;
}

bool is_of_linear_layer(std::string_view name) { return !role_in_linear_layer(name).empty(); }

bool is_linear_weight(std::string_view name) { return name.ends_with(weight_of_linear) && is_of_linear_layer(name); }

namespace {

// Where a name has the number of its head; nothing where it has none.
std::optional<std::string_view> digits_of_head(std::string_view name) {
  const auto digits_at = [&](std::size_t begin) {
    const std::size_t end = std::min(name.find_first_not_of(digit_characters, begin), name.size());
    return name.substr(begin, end - begin);
  };
  constexpr std::string_view word = "head";
  const std::string letters = in_lower_case(name);
  for (std::size_t at = letters.find(word); at != std::string::npos; at = letters.find(word, at + 1)) {
    const std::size_t begin = letters.find_first_not_of("._- [", at + word.size());
    if (begin != std::string::npos && !digits_at(begin).empty()) return digits_at(begin);
  }
  const std::size_t last = name.find_last_of(digit_characters);
  if (last == std::string_view::npos || !roles_called(name).empty()) return std::nullopt;
  const std::string_view number = digits_at(name.find_last_not_of(digit_characters, last) + 1);
  const std::string scope = std::string(word) + std::string(number);
  const bool says_so =
      std::ranges::any_of(readings_of(name), [&](const Reading& reading) { return reading.scope == scope; });
  return says_so ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<std::size_t> head_called(std::string_view name) {
  const std::optional<std::string_view> digits = digits_of_head(name);
  return digits ? parsed<std::size_t>(*digits) : std::nullopt;
}

std::string with_next_head(std::string_view name) {
  const std::optional<std::string_view> digits = digits_of_head(name);
  const std::optional<std::size_t> head = head_called(name);
  if (!head) return std::string(name);
  const auto begin = static_cast<std::size_t>(digits->data() - name.data());
  return std::string(name.substr(0, begin)) + std::to_string(*head + 1) +
         std::string(name.substr(begin + digits->size()));
}

}  // namespace attn
