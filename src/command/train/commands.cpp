#include "command/command.hpp"
#include "training/task.hpp"

namespace attn {

std::vector<Command> train_commands() {
  constexpr std::string_view of_task = ": that of the task";
  OptionGroup own{
      .options = {{option::steps, "number of steps in all", of_task, most_steps},
                  option::batch,
                  {option::seed, "seed of the first parameters and of the sentences", of_task},
                  option::rate,
                  option::warm_up,
                  option::schedule,
                  option::clip,
                  option::smoothing,
                  option::every,
                  {option::layers, "number of layers", of_task, most_trained_layers},
                  {option::heads, "number of heads of each attention", of_task, most_trained_size},
                  {option::d_model, "size of the vectors (embedding size)", of_task, most_trained_size},
                  {option::d_ff, "inner size of the feed-forward layers", of_task, most_trained_size},
                  option::pairs,
                  {option::text, "the sentence that is looked at, in words of the task"},
                  option::save,
                  option::save_model,
                  option::save_steps,
                  option::resume,
                  option::watch,
                  option::head,
                  option::compare,
                  option::only},
      .exclusions = {},
      .needs = {{&option::save_steps,
                 {&option::save},
                 "--save-steps needs --save FILE, beside which they go: give both"},
                {&option::head, {&option::watch}, "--head belongs to --watch: give both"}}};
  for (const Option* given :
       {&option::batch, &option::seed, &option::rate, &option::warm_up, &option::schedule, &option::clip,
        &option::smoothing, &option::every, &option::layers, &option::heads, &option::d_model, &option::d_ff,
        &option::pairs})
    own.exclusions.push_back({&option::resume, given});
  std::vector<Command> commands;
  commands.push_back(
      {.name = "train",
       .summary = "train a small model on a task, and see what its heads learn",
       .words = {{"TASK", Word::Count::optional, Kind::word, choices::tasks}},
       .own = std::move(own),
       .examples = {"attn train", "attn train reverse", "attn train induction --compare 0,100,300",
                    "attn train sort --save sort.safetensors --watch",
                    "attn train --resume sort.safetensors --steps 2000",
                    "attn train pairs --pairs pairs.txt --save mine.safetensors"},
       .run = run_train});
  return commands;
}

}  // namespace attn
