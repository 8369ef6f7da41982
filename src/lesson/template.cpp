#include "lesson/template.hpp"

namespace attn {

std::string_view lesson_template() {
  return R"(---
title: One idea, in a few words
minutes: 5
---

What the reader knows already, and the one thing that is new. Then a number to
predict:

```question
ask: What is the score of "Thinking" with "Machines"?
kind: number
of: scores[Thinking,Machines]
on: --example thinking-machines
tolerance: 0.5
hint: A score is the dot product of a query and a key.
hint: Multiply cell by cell, and add: 4⋅6 + 6⋅4 + 6⋅8.
wrong: scores[Machines,Thinking] => There "Machines" asks: take the other row.
wrong: scaled[Thinking,Machines] => That is divided by 8 already.
```

```attn
attn explain 'scores[1,2]'
```

What the reader has seen. Fill the output in with `attn docs update FILE`, and
look for mistakes with `attn lesson check FILE`.)";
}

}  // namespace attn
