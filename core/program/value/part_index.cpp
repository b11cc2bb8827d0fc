#include "core/program/value/part_index.h"

namespace strato {

void PartIndex::start(Program& program) {
  program_ = &program;
  program.parts.assign(1, Part());
  ids_.clear();
  ids_.emplace(Part(), kWhole);
  recent_.fill(Recent());
}

PartId PartIndex::find(const Part& part) {
  const auto [at, fresh] = ids_.try_emplace(part, program_->parts.next_id());
  if (fresh) program_->parts.push_back(part);
  return at->second;
}

}  // namespace strato
