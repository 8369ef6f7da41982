#include "school/check/names.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <utility>

#include "core/support/text.hpp"
#include "school/check/places_in_models.hpp"

namespace attn {

namespace {

constexpr std::string_view digit_characters = "0123456789";

// Of an output some call so what is not projected yet.
constexpr std::array<std::string_view, 5> names_before_projection = {"attnoutput", "attentionoutput", "attnout", "o",
                                                                     "z"};

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
    add({&memory},
        {"encoderoutput", "encoderoutputs", "encout", "encoderstates", "encoderhiddenstates", "source", "src"});
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
    add({&x}, {"hookembed"});
    add({&positions}, {"hookposembed"});
    add({&inner}, {"hookpre"});
    add({&rectified, &activated}, {"hookpost"});
    add({&output, &normalised}, {"hooknormalized"});  // with γ and β, unless they were folded into what follows
    add({&logits, &scores, &scaled, &capped, &masked}, {"logits"});
    add({&scaled, &capped, &masked}, {"scaled", "scaledscores", "scoresscaled", "scaledattentionscores"});
    add({&masked}, {"masked", "maskedscores", "scoresmasked"});
    add({&weights, &alignment},
        {"weights",    "attn",    "attention",    "attnweights", "attentionweights", "attnoutputweights",
         "a",          "p",       "probs",        "attnprobs",   "attentionprobs",   "alpha",
         "alphas",     "softmax", "attentionmap", "attnmap",     "attentionmatrix",  "w",
         "attentions", "pattern", "hookpattern",  "att"});
    add({&weights, &masked, &scaled, &scores}, {"wei"});
    add({&output, &context}, {"output", "outputs", "y", "result", "lasthiddenstate"});
    add({&output, &context, &concat}, {"out"});
    for (const std::string_view name : names_before_projection) add({&output, &concat, &context}, {name});
    // What others call so is not projected yet; without heads and w_o it is the output.
    add({&context, &concat, &head, &output},
        {"context", "contextvector", "contextlayer", "ctx", "contextvec", "attended", "weightedvalues"});
    add({&head, &output}, {"headoutput", "headoutputs", "headout", "outputheads"});
    add({&concat, &head}, {"concatenated", "concatheads", "merged", "multihead"});
    add({&role::mask, &role::bias},
        {"mask", "attnmask", "attentionmask", "causalmask", "lookaheadmask", "subsequentmask", "tril", "triu",
         "keypaddingmask", "paddingmask", "padmask", "srckeypaddingmask", "srcpaddingmask", "srcmask", "keymask"});
    add({&role::bias, &role::mask}, {"bias", "attnbias"});  // of nanoGPT: a mask of zeros and ones
    add({&positions}, {"pe", "posenc", "positionalencoding", "positionalencodings", "posemb", "pos"});
    add({&positioned}, {"xpos", "xpe", "xwithpositions", "withpositions"});
    add({&mean}, {"mu", "means"});
    add({&variance}, {"var", "variances", "sigma2"});
    add({&normalised}, {"normalized", "xhat", "norm"});
    add({&inner}, {"ffn1", "linear1", "hidden"});
    add({&rectified, &activated}, {"relu", "activated", "activation"});
    add({&role::feed_forward}, {"ff", "ffn", "mlp"});
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
  std::vector<std::string_view> makes;  // what it is called by: one of these words, also with a word for a linear layer
  std::vector<std::string_view> names;  // what else it is called
};

const std::vector<LinearLayer>& linear_layers() {
  using namespace role;
  static const std::vector<LinearLayer> table = {
      {{&w_q}, {&b_q}, {"q", "qs", "query", "queries"}, {"linears0", "linearlayers0"}},
      {{&w_k}, {&b_k}, {"k", "ks", "key", "keys"}, {"linears1", "linearlayers1"}},
      {{&w_v}, {&b_v}, {"v", "vs", "value", "values"}, {"linears2", "linearlayers2"}},
      {{&w_o},
       {&b_o},
       {"o", "out", "output"},
       {"toout0", "proj", "projection", "dense", "fc", "unifyheads", "combineheads", "finallinear", "linears3",
        "linearlayers3"}},
      {{&w_1},
       {&b_1},
       {},
       {"w1", "linear1", "lin1", "fc1", "ff1", "dense1", "ffn0", "ff0", "mlp0", "net0", "feedforward0",
        "intermediatedense"}},
      {{&w_2}, {&b_2}, {}, {"w2", "linear2", "lin2", "fc2", "ff2", "dense2", "ffn2", "mlp2", "net2", "feedforward2"}},
  };
  return table;
}

constexpr std::string_view words_for_linear[] = {"",      "w",  "proj", "projection", "linear", "lin",
                                                 "layer", "fc", "to",   "dense",      "map",    "transform"};

bool is_called(const LinearLayer& layer, std::string_view plain) {
  const auto is_made = [&](std::string_view made) {
    return std::ranges::any_of(words_for_linear, [&](std::string_view word) {
      return plain.size() == made.size() + word.size() &&
             ((plain.starts_with(made) && plain.ends_with(word)) || (plain.starts_with(word) && plain.ends_with(made)));
    });
  };
  return std::ranges::find(layer.names, plain) != layer.names.end() || std::ranges::any_of(layer.makes, is_made);
}

// The linear layer that a name without .weight or .bias says, by its last two words or its last one.
const LinearLayer* linear_layer_called(std::string_view stem) {
  const auto called = [](std::string_view words) -> const LinearLayer* {
    const std::string plain = plain_name(words);
    const auto found =
        std::ranges::find_if(linear_layers(), [&](const LinearLayer& layer) { return is_called(layer, plain); });
    return found == linear_layers().end() ? nullptr : &*found;
  };
  const std::size_t last = stem.rfind('.');
  if (last == std::string_view::npos) return called(stem);
  const std::size_t before = last == 0 ? std::string_view::npos : stem.rfind('.', last - 1);
  const LinearLayer* const by_two = called(before == std::string_view::npos ? stem : stem.substr(before + 1));
  return by_two ? by_two : called(stem.substr(last + 1));
}

// How the name of a parameter of a linear layer ends. Only some of them are PyTorch's own, whose weights are (out, in).
struct EndOfLinear {
  std::string_view end;
  bool is_weight;
};

constexpr EndOfLinear ends_of_linear[] = {{".weight", true}, {".bias", false}, {"_weight", true}, {"_bias", false}};
constexpr std::string_view ends_of_pytorch[] = {".weight", "_proj_weight"};

std::span<const Role* const> role_in_linear_layer(std::string_view name) {
  for (const EndOfLinear& row : ends_of_linear) {
    if (!name.ends_with(row.end)) continue;
    const LinearLayer* const layer = linear_layer_called(name.substr(0, name.size() - row.end.size()));
    if (layer) return row.is_weight ? layer->weight : layer->bias;
  }
  return {};
}

constexpr std::string_view head_word = "head";

// "heads0attn" is "head0attn".
std::string with_heads_as_head(std::string letters) {
  for (std::size_t at = letters.find(head_word); at != std::string::npos; at = letters.find(head_word, at + 1)) {
    const std::size_t s = at + head_word.size();
    if (s + 1 < letters.size() && letters[s] == 's' && is_digit(letters[s + 1])) letters.erase(s, 1);
  }
  return letters;
}

// "grad_q", "q_grad" and "dq" are d_q.
std::pair<std::string, bool> without_gradient(const std::string& name) {
  for (const std::string_view word : {"gradient", "grad"}) {
    if (name.starts_with(word)) return {name.substr(word.size()), true};
    if (name.ends_with(word)) return {name.substr(0, name.size() - word.size()), true};
  }
  return {name, false};
}

// Where a name has the number of its head; nothing where it has none.
std::optional<std::string_view> digits_of_head(std::string_view name) {
  const auto digits_at = [&](std::size_t begin) {
    const std::size_t end = std::min(name.find_first_not_of(digit_characters, begin), name.size());
    return name.substr(begin, end - begin);
  };
  const std::string letters = in_lower_case(name);
  for (std::size_t at = letters.find(head_word); at != std::string::npos; at = letters.find(head_word, at + 1)) {
    std::size_t after = at + head_word.size();
    if (after < letters.size() && letters[after] == 's') ++after;
    const std::size_t begin = letters.find_first_not_of("._- [", after);
    if (begin != std::string::npos && !digits_at(begin).empty()) return digits_at(begin);
  }
  const std::size_t last = name.find_last_of(digit_characters);
  if (last == std::string_view::npos || !roles_named(name).empty()) return std::nullopt;
  const std::string_view number = digits_at(name.find_last_not_of(digit_characters, last) + 1);
  const std::string scope = std::string(head_word) + std::string(number);
  const bool says_so =
      std::ranges::any_of(readings_of(name), [&](const Reading& reading) { return reading.scope == scope; });
  return says_so ? std::optional(number) : std::nullopt;
}

constexpr std::string_view separators = "._- []";

// What is left of a name without what stands between two places, and without its separators.
std::string without_between(std::string_view name, std::size_t begin, std::size_t end) {
  const std::string_view before = name.substr(0, begin), after = name.substr(end);
  const std::size_t last = before.find_last_not_of(separators), first = after.find_first_not_of(separators);
  if (first == std::string_view::npos) return std::string(before.substr(0, last + 1));
  if (last == std::string_view::npos) return std::string(after.substr(first));
  const bool has_dot = after.substr(0, first).find('.') != std::string_view::npos || before.ends_with('.');
  return std::string(before.substr(0, last + 1)) + (has_dot ? '.' : '_') + std::string(after.substr(first));
}

bool is_called_projection(std::string_view name) {
  using namespace role;
  const std::span<const Role* const> roles = roles_named(name);
  static constexpr std::array projections = {&w_q, &w_k, &w_v, &b_q, &b_k, &b_v};
  return !roles.empty() && std::ranges::find(projections, roles.front()) != projections.end();
}

}  // namespace

std::string plain_name(std::string_view name) {
  std::string letters;
  for (const char c : in_lower_case(name)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c & 0x80) != 0) letters += c;
  }
  return letters;
}

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
  const std::string letters = with_heads_as_head(plain_name(name));
  const auto [rest, is_gradient] = without_gradient(letters);
  add(rest, is_gradient);
  if (!is_gradient && letters.starts_with('d')) add(letters.substr(1), true);
  std::ranges::stable_sort(all, std::greater(), [](const auto& one) { return one.first; });
  std::vector<Reading> readings;
  for (auto& [said, reading] : all) readings.push_back(std::move(reading));
  return readings;
}

std::span<const Role* const> roles_named(std::string_view name) {
  if (const std::span<const Role* const> roles = role_in_linear_layer(name); !roles.empty()) return roles;
  const std::string letters = plain_name(name);
  const auto found =
      std::ranges::find_if(spellings(), [&](const Spelling& row) { return plain_name(row.name) == letters; });
  return found == spellings().end() ? std::span<const Role* const>() : found->roles;
}

bool may_be_before_projection(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  const std::string letters = plain_name(dot == std::string_view::npos ? name : name.substr(dot + 1));
  return std::ranges::find(names_before_projection, letters) != names_before_projection.end();
}

bool is_of_linear_layer(std::string_view name) { return !role_in_linear_layer(name).empty(); }

bool is_linear_weight(std::string_view name) {
  return std::ranges::any_of(ends_of_pytorch, [&](std::string_view end) { return name.ends_with(end); }) &&
         is_of_linear_layer(name);
}

std::optional<std::size_t> head_named(std::string_view name) {
  const std::optional<std::string_view> digits = digits_of_head(name);
  return digits ? parse_number<std::size_t>(*digits) : std::nullopt;
}

std::optional<ParameterOfHead> parameter_of_head(std::string_view name) {
  if (const std::optional<PlaceInModel> place = place_in_model(name); place && place->layer) return std::nullopt;
  const auto named_without = [&](std::size_t begin, std::size_t end) -> std::optional<ParameterOfHead> {
    const std::size_t digits = name.find_first_of(digit_characters, begin);
    const std::optional<std::size_t> number = parse_number<std::size_t>(name.substr(digits, end - digits));
    std::string rest = without_between(name, begin, end);
    if (!number || !is_called_projection(rest)) return std::nullopt;
    return ParameterOfHead{*number, std::move(rest)};
  };
  const std::size_t at = in_lower_case(name).find(head_word);
  if (at != std::string::npos) {
    const std::optional<std::string_view> digits = digits_of_head(name);
    if (!digits) return std::nullopt;
    const auto end = static_cast<std::size_t>(digits->data() - name.data()) + digits->size();
    return end > at ? named_without(at, end) : std::nullopt;
  }
  // "query.0.weight", "Wq_0": the number stands behind what is projected.
  if (!roles_named(name).empty()) return std::nullopt;
  std::size_t stem = name.size();
  for (const EndOfLinear& row : ends_of_linear) {
    if (name.ends_with(row.end)) stem = std::min(stem, name.size() - row.end.size());
  }
  const std::size_t last = name.substr(0, stem).find_last_not_of("]");
  if (last == std::string_view::npos || !is_digit(name[last])) return std::nullopt;
  return named_without(name.find_last_not_of(digit_characters, last) + 1, last + 1);
}

bool may_be_parameter(std::string_view name) {
  const std::string letters = plain_name(name);
  const auto ends = [&](std::string_view word) { return letters.ends_with(word); };
  return std::ranges::any_of(std::array<std::string_view, 5>{"weight", "bias", "kernel", "gamma", "beta"}, ends) ||
         (name.size() > 1 && name.front() == 'W') || name.starts_with("w_") || name.starts_with("b_");
}

std::string with_next_head(std::string_view name) {
  const std::optional<std::string_view> digits = digits_of_head(name);
  const std::optional<std::size_t> head = head_named(name);
  if (!head) return std::string(name);
  const auto begin = static_cast<std::size_t>(digits->data() - name.data());
  return std::string(name.substr(0, begin)) + std::to_string(*head + 1) +
         std::string(name.substr(begin + digits->size()));
}

}  // namespace attn
