#include <algorithm>
#include <string_view>

#include "data/problem/model_words.hpp"
#include "school/training/task.hpp"

namespace attn {

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
  const TransformerSizes sizes =
      with_size_changes({.decoder_layers = 1, .d_model = 16, .heads = 4, .d_ff = 64}, request.sizes);
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
                   .draw = [all](Generator& generator) { return all[uniform_index(all.size(), generator)]; },
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

}  // namespace attn
