#include "lesson/template.hpp"

namespace attn {

std::string_view lesson_template() {
  return R"(---
title: The term that this lesson teaches
minutes: 5
can: do one thing more than before
try: attn walk --text 'The cat sleeps'
---

Begin with what the reader knows. Then give the one new term in bold, and say
in one sentence what it means. Then ask for a number before you show it:

```question
ask: What is the score of "Thinking" with "Machines"?
kind: number
of: scores[Thinking,Machines]
on: --example thinking-machines
tolerance: 0.5
hint: A score is the dot product of a query and a key.
hint: Multiply number by number and add the products: 4⋅6 + 6⋅4 + 6⋅8.
wrong: scores[Machines,Thinking] => This is the score of the query "Machines"
  with the key "Thinking". Exchange the two words.
wrong: scaled[Thinking,Machines] => This is the score after scaling. Leave out
  the division by 8.
```

```attn
attn explain 'scores[1,2]'
```

End with one sentence that says what the reader has seen. Put the output below
the blocks with `attn docs update FILE`, and find mistakes with
`attn lesson check FILE`.)";
}

}  // namespace attn
