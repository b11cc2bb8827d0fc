// The tasks of a program by handle. A whole program's handle is the row; delta lowering's store
// also has rows of tasks that are gone. A view, for one call. Private to core/sim.
#pragma once

#include <cstdint>
#include <span>

#include "core/program/value/program.h"

namespace strato {

class TaskRows {
 public:
  explicit TaskRows(const Program& program) : program_(program) {}
  // `rows`: by handle; -1: gone. Empty: a whole program.
  TaskRows(const Program& store, std::span<const std::int32_t> rows)
      : program_(store), rows_(rows) {}

  const Program& program() const { return program_; }
  std::size_t size() const { return rows_.empty() ? program_.tasks.size() : rows_.size(); }
  // Negative: the task is gone.
  std::int32_t row(std::size_t task) const {
    return rows_.empty() ? static_cast<std::int32_t>(task) : rows_[task];
  }

 private:
  const Program& program_;
  std::span<const std::int32_t> rows_;
};

}  // namespace strato
