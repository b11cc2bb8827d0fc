// The experience of a training of `tag`, as its checkpoints keep it.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "plugins/planners/learned/kit/training/checkpoint.h"
#include "plugins/planners/learned/tag/training/examples.h"

namespace strato::tag {

struct Experience {
  std::deque<Record> records;  // latest examples, oldest first
  BestKnown known;
};

std::string write_experience(const Experience& experience);
// Throws InputError when it is damaged; `file`: its name, for messages.
Experience read_experience(std::string_view bytes, const std::string& file);

// A checkpoint that a version before the archive of tensors wrote. Throws InputError.
learned::Checkpoint read_old_checkpoint(std::string_view bytes, const std::string& file);

}  // namespace strato::tag
