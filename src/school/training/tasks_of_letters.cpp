#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <unordered_map>

#include "core/model/encoder_decoder.hpp"
#include "core/support/error.hpp"
#include "core/support/text.hpp"
#include "data/problem/words.hpp"
#include "school/training/task.hpp"

namespace attn {

// --- dates

namespace {

constexpr std::string_view about_dates[] = {
    "A date in words, in one of three forms, is written in digits: year, month, day. "
    "The parts stand in another order than in the sentence, and the words of one part are one, two or three.",
    "A recurrent network reads the sentence word by word. "
    "Without attention its final state must hold all of it. "
    "With attention each digit can attend to the words that it is made of, so the alignment can be read: which words each digit attends to.",
};

const std::array<std::string, 10> ones = {"zero", "one", "two",   "three", "four",
                                          "five", "six", "seven", "eight", "nine"};
const std::array<std::string, 10> teens = {"ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                           "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
const std::array<std::string, 10> tens = {"",      "",      "twenty",  "thirty", "forty",
                                          "fifty", "sixty", "seventy", "eighty", "ninety"};
const std::array<std::string, 20> ordinals = {"",          "first",     "second",      "third",      "fourth",
                                              "fifth",     "sixth",     "seventh",     "eighth",     "ninth",
                                              "tenth",     "eleventh",  "twelfth",     "thirteenth", "fourteenth",
                                              "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"};
const std::array<std::string, 12> months = {"january", "february", "march",     "april",   "may",      "june",
                                            "july",    "august",   "september", "october", "november", "december"};

constexpr std::size_t first_year = 1900, years = 200, forms = 3;

struct Date {
  std::size_t year, month, day;
};

Words operator+(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Words day_in_words(std::size_t day) {
  if (day < 20) return {ordinals[day]};
  if (day % 10 == 0) return {day == 20 ? "twentieth" : "thirtieth"};
  return {tens[day / 10], ordinals[day % 10]};
}

Words two_digits(std::size_t number) {
  if (number < 10) return {"oh", ones[number]};
  if (number < 20) return {teens[number - 10]};
  if (number % 10 == 0) return {tens[number / 10]};
  return {tens[number / 10], ones[number % 10]};
}

Words year_in_words(std::size_t year) {
  const std::size_t rest = year % 100;
  if (year < 2000) return Words{"nineteen"} + (rest == 0 ? Words{"hundred"} : two_digits(rest));
  if (rest >= 10) return Words{"twenty"} + two_digits(rest);
  return rest == 0 ? Words{"two", "thousand"} : Words{"two", "thousand", ones[rest]};
}

Words date_in_words(const Date& date, std::size_t form) {
  const Words day = day_in_words(date.day), month = {months[date.month - 1]}, year = year_in_words(date.year);
  if (form == 0) return month + day + year;
  if (form == 1) return Words{"the"} + day + Words{"of"} + month + year;
  return year + month + day;
}

std::size_t days_in(std::size_t year, std::size_t month) {
  constexpr std::array<std::size_t, 12> days = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return days[month - 1] + (leap && month == 2 ? 1 : 0);
}

// All words, in the order of the alphabet, and <end>.
Vocabulary source_words() {
  Words words;
  for (std::size_t year = first_year; year < first_year + years; ++year) words = words + year_in_words(year);
  for (std::size_t day = 1; day <= 31; ++day) words = words + day_in_words(day);
  words = words + Words(months.begin(), months.end()) + Words{"the", "of"};
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  words.emplace_back(end_word);
  return words;
}

Vocabulary target_words() {
  Vocabulary words;
  for (char digit = '0'; digit <= '9'; ++digit) words.emplace_back(1, digit);
  words.insert(words.end(), {"-", std::string(start_word), std::string(end_word)});
  return words;
}

// 2024-05-03: the ids of digits are the digits and one.
Words in_digits(const Date& date) {
  Words digits;
  for (const char c : fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day)) digits.emplace_back(1, c);
  return digits;
}

std::size_t number_in(const Ids& digits, std::size_t first, std::size_t count) {
  std::size_t number = 0;
  for (std::size_t i = first; i < first + count; ++i) number = 10 * number + digits[i] - 1;
  return number;
}

// Every tenth date, in all of its forms.
bool holds_out_date(const TaskExample& example) {
  const Ids& digits = example.expected;
  return (number_in(digits, 0, 4) * 372 + number_in(digits, 5, 2) * 31 + number_in(digits, 8, 2)) % 10 == 7;
}

TaskExample example_of_date(const Date& date, std::size_t form, const Vocabulary& source, const Vocabulary& target) {
  TaskExample example;
  const Words end = {std::string(end_word)};
  for (const std::string& word : date_in_words(date, form) + end) example.source.push_back(id_in(source, word));
  for (const std::string& digit : in_digits(date) + end) example.expected.push_back(id_in(target, digit));
  example.given = {id_in(target, start_word)};
  example.given.insert(example.given.end(), example.expected.begin(), example.expected.end() - 1);
  return example;
}

TaskSetup set_up_dates(const TaskRequest& request) {
  EncoderDecoder model{
      .cell = &look_up(recurrences(), "gru", "cell"),
      .variant = &look_up(alignment_variants(), request.variant.empty() ? "bahdanau" : request.variant, "variant"),
      .source_words = source_words(),
      .target_words = target_words(),
      .source_size = 16,
      .target_size = 16,
      .state_size = request.sizes.d_model.value_or(32)};
  constexpr std::size_t longest_source = 9, longest_target = 11;
  const auto draw = [source = model.source_words, target = model.target_words](Generator& generator) {
    Date date{};
    date.year = first_year + any_of(years, generator);
    date.month = 1 + any_of(12, generator);
    date.day = 1 + any_of(days_in(date.year, date.month), generator);
    return example_of_date(date, any_of(forms, generator), source, target);
  };
  return {.model = std::move(model),
          .data = {.longest = {.source = longest_source,
                               .given = longest_target,
                               .expected = longest_target,
                               .has_padding = true},
                   .draw = draw,
                   .is_held_out = holds_out_date},
          .defaults = {.steps = 1500, .batch = 32, .rate = 3e-3}};
}

}  // namespace

const Task dates_task{.name = "dates",
                      .summary = "a date from words to digits, with a recurrent network and Bahdanau's attention",
                      .about = about_dates,
                      .measure = "digits of the date, each given the right ones before it",
                      .goal = 0.99,
                      .example = "the third of may twenty twenty four",
                      .is_recurrent = true,
                      .set_up = set_up_dates};

// --- names

namespace {

constexpr std::string_view about_names[] = {
    "The model writes names letter by letter: each letter is predicted from those before it. "
    "Attention is the only way by which a letter learns of earlier ones.",
    "Nothing here can be known for sure, because many letters may follow the same beginning. "
    "So the measure is the loss beside that of guessing, ln 27 for 26 letters and the end, and the names that the model writes.",
};

// Common given names.
constexpr std::string_view all_names =
    "aaron abby abel abigail abraham ada adam adela adelaide adele adeline adrian adriana agatha agnes "
    "aidan aileen aimee alan alana albert alberta alec alejandra alejandro alessandra alessandro alex "
    "alexa alexander alexandra alexis alfonso alfred alfredo alice alicia alina alison allan allison "
    "alma alvin alyssa amalia amanda amara amber amelia amina amir amira amos amy ana anastasia anders "
    "andre andrea andreas andrew angela angelica angelina angelo angus anita ann anna annabel anne "
    "annette annika anthony antoine anton antonia antonio anya april ariana ariel arlene armand armando "
    "arnold arthur arturo asha ashley astrid audrey august augusta aurelia aurora austin ava axel "
    "barbara barry bart basil beatrice becky belinda bella ben benedict benjamin bernadette bernard "
    "bernice bert bertha beth bethany betty beverly bianca bill billy blair blake blanca boris brad "
    "bradley brandon brenda brendan brent brett brian bridget brigitte britta bruce bruno bryan bryce "
    "caleb calvin camila camilla candice cara carina carl carla carlo carlos carmen carol carolina "
    "caroline carolyn carrie carter casey caspar cassandra catalina catherine cathy cecil cecilia cedric "
    "celeste celia cesar chad charlene charles charlotte chelsea cheryl chester chiara chloe chris "
    "christa christian christina christine christopher cindy claire clara clarence clarissa clark claude "
    "claudia clay clement cliff clifford clinton clive clyde cody colin connie connor conrad constance "
    "cora cordelia corinne cornelia cosmo courtney craig cristina curtis cynthia cyril cyrus daisy dale "
    "damian damon dana daniel daniela danielle daphne daria darius darlene darren dave david dawn dean "
    "deanna deborah debra declan deirdre delia della denise dennis derek desmond dexter diana diane "
    "diego dieter dimitri dina dolores dominic dominique donald donna dora doreen doris dorothea dorothy "
    "douglas drew duncan dustin dwight dylan earl edgar edith edmund eduardo edward edwin eileen elaine "
    "eleanor elena eli eliana elias elijah elisa elisabeth elise eliza elizabeth ella ellen elliot elmer "
    "eloise elsa elsie elvira emanuel emil emilia emilio emily emma emmanuel enrico enrique eric erica "
    "erik erika erin ernest ernesto esmeralda esperanza esteban estelle esther ethan ethel eugene "
    "eugenia eva evan evelyn ezra fabian fabio faith fatima federico felicia felicity felipe felix "
    "ferdinand fernanda fernando fiona flora florence florian floyd frances francesca francesco francis "
    "francisco frank franklin fred freda frederick frieda gabriel gabriela gabrielle gail gareth garrett "
    "gary gavin gemma gene genevieve geoffrey george georgia georgina gerald geraldine gerard gertrude "
    "gideon gilbert gina giovanni gisela giulia giuseppe gladys glen glenda gloria gordon grace graham "
    "grant greg gregory greta gretchen guido guillermo gustav gustavo guy gwen hailey hanna hannah hans "
    "harold harriet harry harvey hassan hazel heather hector heidi helen helena helga henri henrietta "
    "henrik henry herbert herman hilary hilda holly homer hope horace howard hubert hugh hugo humphrey "
    "ian ida ignacio igor imogen ines ingrid ira irene iris irma irving isaac isabel isabella isidore "
    "isla ivan ivy jack jackson jacob jacqueline jade jaime jake jamal james jamie jan jana jane janet "
    "janice jared jasmine jason jasper javier jay jean jeanette jeff jeffrey jenna jennifer jenny jeremy "
    "jerome jerry jesse jessica jill jim jimmy joan joanna joanne jodie joel johan johanna john johnny "
    "jon jonas jonathan jordan jorge jose josef joseph josephine joshua josie joy joyce juan juanita "
    "judith judy julia julian juliana julie juliet julio julius june justin karen karim karin karina "
    "karl karla kate katherine kathleen kathryn katie katrina kay keith kelly kelvin ken kenneth kent "
    "kerry kevin kim kimberly kirk klara klaus kristen kristin kristina kurt kyle lana lance lara larry "
    "laura lauren laurence lavinia lawrence leah leandro lee leila lena leo leon leona leonard leonardo "
    "leonie leopold leroy leslie leticia levi lewis liam lidia lila lilian lillian lily linda lindsay "
    "lisa livia liz lloyd logan lois lola lora lorena lorenzo loretta lorna lorraine lottie louis louisa "
    "louise luca lucas lucia lucian luciano lucille lucinda lucy ludwig luis luisa luke luna luther "
    "lydia lyle lynn mabel mackenzie madeleine madison magda magdalena maggie malcolm manfred manuel "
    "manuela mara marc marcel marcela marcia marco marcus margaret margarita margot maria mariana "
    "marianne marie marilyn marina mario marion marisa marjorie mark marlene marlon marsha marta martha "
    "martin martina marvin mary mason mateo mathilda matilda matteo matthew maureen maurice mauricio max "
    "maxine maxwell maya megan melanie melinda melissa melvin mercedes meredith mia michael michelle "
    "miguel mike mila mildred miles millicent milo milton mina minna miranda miriam mitchell mohammed "
    "moira mollie molly mona monica monika morgan moritz morris muriel myra myrtle nadia nadine nancy "
    "naomi natalia natalie natasha nathan nathaniel neil nell nelson nestor nicholas nick nicola nicolas "
    "nicole nigel nils nina noah noel noelle nora norbert norma norman octavia odette olaf olga oliver "
    "olivia ollie omar opal ophelia orlando oscar oswald otis otto owen pablo paloma pamela paola "
    "patricia patrick paul paula paulina pauline pearl pedro peggy penelope percy perry peter petra "
    "philip phoebe phyllis pierre polly priscilla quentin rachel rafael rafaela ralph ramon ramona "
    "randall raquel raul ray raymond rebecca regina reginald reinhard renata rene rex rhoda ricardo "
    "richard rick riley rita robert roberta roberto robin rocco roderick rodney rodrigo roger roland "
    "rolf roman romeo ronald rosa rosalie rosalind rosanna rose rosemary ross roxanne roy ruben ruby "
    "rudolf rufus rupert russell ruth ryan sabina sabrina sally salvador sam samantha samuel sandra "
    "sandy santiago sara sarah saul savannah scarlett scott sean sebastian selena selma serena sergio "
    "seth shane shannon sharon shaun sheila shelley sherman shirley sidney sienna sierra silas silvia "
    "simon simone sofia sonia sonja sophia sophie spencer stacy stanley stefan stella stephanie stephen "
    "steve steven stewart stuart susan susanna sven sybil sylvester sylvia tabitha tamara tammy tania "
    "tanya tara tatiana ted terence teresa terry tessa thea thelma theo theodora theodore theresa thomas "
    "tiffany tilda tim timothy tina toby todd tom tomas tony tracy travis trevor trina tristan trudy "
    "tyler ulrich ursula valentina valentine valeria valerie vanessa vera verity verna vernon veronica "
    "vicky victor victoria vincent viola violet virgil virginia vivian viviana vladimir wade wallace "
    "walter wanda ward warren wayne wendy wesley wilbur wilfred wilhelm willa william willow wilma "
    "winifred winston xavier yasmin yolanda yvette yvonne zachary zara zelda zoe";

Vocabulary words() {
  Vocabulary words = {std::string(start_word), std::string(end_word)};
  for (char letter = 'a'; letter <= 'z'; ++letter) words.emplace_back(1, letter);
  return words;
}

// <start> e v a predicts e v a <end>.
std::vector<TaskExample> examples_of_names() {
  const Vocabulary vocabulary = words();
  const std::size_t start = id_in(vocabulary, start_word), end = id_in(vocabulary, end_word);
  std::vector<TaskExample> examples(1);
  const auto close = [&] {
    TaskExample& last = examples.back();
    last.given.assign(1, start);
    last.given.insert(last.given.end(), last.expected.begin(), last.expected.end());
    last.expected.push_back(end);
  };
  for (const char letter : all_names) {
    if (letter == ' ') {
      close();
      examples.emplace_back();
    } else {
      examples.back().expected.push_back(id_in(vocabulary, std::string_view(&letter, 1)));
    }
  }
  close();
  return examples;
}

TaskSetup set_up_names(const TaskRequest& request) {
  const TransformerSizes sizes = changed({.decoder_layers = 1, .d_model = 16, .heads = 4, .d_ff = 64}, request.sizes);
  const std::vector<TaskExample> all = examples_of_names();
  std::vector<TaskExample> kept;
  std::ranges::copy_if(all, std::back_inserter(kept), is_one_in_ten);
  Transformer model = one_sided(decoder_only(), words(), sizes, recipe_with("pre", "rms", "learned"));
  model.title = "Names, trained";
  model.summary = "A decoder that writes names letter by letter.";
  model.recipe.scale_embeddings = false;
  model.recipe.biases = false;
  const BatchShape longest = BatchShape::of(all, 1);
  model.sizes.target_places = longest.given;
  return {.model = std::move(model),
          .data = {.longest = longest,
                   .draw = [all](Generator& generator) { return all[any_of(all.size(), generator)]; },
                   .is_held_out = is_one_in_ten,
                   .held_out = std::move(kept)},
          .defaults = {.steps = 1000,
                       .batch = 8,
                       .schedule = &falling_rate(),
                       .rate = 1e-2,
                       .warm_up = 0,
                       .beta_1 = 0.85,
                       .beta_2 = 0.99}};
}

}  // namespace

const Task names_task{.name = "names",
                      .summary = "names, letter by letter",
                      .about = about_names,
                      .measure = "letters, each given the right ones before it",
                      .goal = 0.0,
                      .example = "m a r i a",
                      .has_right_sentences = false,
                      .set_up = set_up_names};

// --- pairs

namespace {

constexpr std::string_view about_pairs[] = {
    "The pairs are the reader's own: from each first sentence the model learns to write the second one. "
    "An encoder reads the first; a decoder writes the second word by word, and attends to the words of the first (cross-attention).",
    "Every tenth pair of the file, and at least one, is held out. "
    "With few pairs a model can memorize them: "
    "then its loss in training falls, and that of the pairs held out may not.",
};

std::vector<std::string> with_end(const std::string& sentence) {
  std::vector<std::string> words = split_words(sentence);
  words.emplace_back(end_word);
  return words;
}

Transformer model_of(const std::vector<TextPair>& pairs, const SizeChanges& changes) {
  Transformer model{.kind = &both_sides(), .recipe = recipe_with("pre", "rms", "sinusoidal")};
  model.sizes = changed({.encoder_layers = 1, .decoder_layers = 1, .d_model = 32, .heads = 2, .d_ff = 64}, changes);
  model.target_vocabulary = {std::string(start_word), std::string(end_word)};
  std::vector<std::string> sources, targets;
  for (const TextPair& pair : pairs) {
    for (const std::string& word : with_end(pair.source)) sources.push_back(word);
    for (const std::string& word : split_words(pair.target)) targets.push_back(word);
  }
  const auto different = [](std::vector<std::string>& words) {
    std::ranges::sort(words);
    words.erase(std::unique(words.begin(), words.end()), words.end());
  };
  different(sources);
  different(targets);
  model.source_vocabulary = sources;
  model.target_vocabulary = with_new_words(std::move(model.target_vocabulary), targets);
  model.sizes.source_words = model.source_vocabulary.size();
  model.sizes.target_words = model.target_vocabulary.size();
  model.title = "Own pairs, trained";
  model.recipe.scale_embeddings = false;
  return model;
}

// The ids of words that all have one. A large vocabulary is not searched for each.
class KnownIds {
 public:
  explicit KnownIds(const Vocabulary& vocabulary) {
    for (std::size_t i = 0; i < vocabulary.size(); ++i) ids_.emplace(vocabulary[i], i + 1);
  }

  Ids of(const std::vector<std::string>& words) const {
    Ids ids;
    for (const std::string& word : words) ids.push_back(ids_.at(word));
    return ids;
  }

 private:
  std::unordered_map<std::string_view, std::size_t> ids_;
};

std::vector<TaskExample> examples_of(const std::vector<TextPair>& pairs, const Transformer& model) {
  std::vector<TaskExample> examples;
  const KnownIds sources(model.source_vocabulary), targets(model.target_vocabulary);
  for (const TextPair& pair : pairs) {
    TaskExample example{.source = sources.of(with_end(pair.source)),
                        .given = targets.of({std::string(start_word)}),
                        .expected = targets.of(with_end(pair.target))};
    example.given.insert(example.given.end(), example.expected.begin(), example.expected.end() - 1);
    examples.push_back(std::move(example));
  }
  return examples;
}

// Every tenth, or the last one of fewer; what has the same first sentence is held out with it.
std::set<Ids> held_out_of(const std::vector<TaskExample>& examples) {
  constexpr std::size_t every = 10;
  std::set<Ids> held_out;
  for (std::size_t i = every - 1; i < examples.size(); i += every) held_out.insert(examples[i].source);
  if (held_out.empty()) held_out.insert(examples.back().source);
  return held_out;
}

TaskSetup set_up_pairs(const TaskRequest& request) {
  Transformer model = model_of(request.pairs, request.sizes);
  const std::vector<TaskExample> examples = examples_of(request.pairs, model);
  const std::set<Ids> held_out = held_out_of(examples);
  std::vector<TaskExample> training, kept;
  for (const TaskExample& example : examples) (held_out.contains(example.source) ? kept : training).push_back(example);
  if (training.empty())
    fail(
        "there are only pairs with the same first sentence: give two pairs with different ones, one to train on and one to hold out");
  return {.model = std::move(model),
          .data = {.longest = BatchShape::of(examples, 1),
                   .draw = [training](Generator& generator) { return training[any_of(training.size(), generator)]; },
                   .held_out = std::move(kept)},
          .defaults = {.steps = 1000, .batch = 32, .rate = 3e-3}};
}

}  // namespace

const Task pairs_task{.name = "pairs",
                      .summary = "sentences of your own, from a text file of pairs",
                      .about = about_pairs,
                      .measure = "words of the second sentence, each given the right ones before it",
                      .goal = 0.0,
                      .example = "",
                      .needs_pairs = true,
                      .set_up = set_up_pairs};

}  // namespace attn
