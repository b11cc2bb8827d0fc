// Numbers in the place of a program's symbols.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/plugin/api/plugin.h"
#include "plugins/importers/exported_program/program/program.h"

namespace strato::exported_program_import {

// What the symbols are bound to, and so each size.
class Binding {
 public:
  // The batch is the first symbol of an input's batch axis, if no size of an input is called like
  // one; else the extent that is built in there. Throws InputError: UnboundDimension for symbols
  // that nobody gave (all of them at once), for an option that names none, for one beyond the
  // program's ranges and for a batch that is not the built-in one.
  Binding(const Program& program, const ImportOptions& options);

  std::int64_t batch() const { return batch_; }
  // The axis along which an input of these sizes carries the batch, or -1.
  int batch_axis(const std::vector<Size>& sizes) const;
  // Throws InputError, naming `place`, for what is no size of a tensor.
  std::int64_t number(const Size& size, const std::string& place) const;
  Shape shape(const TensorMeta& meta, const std::string& tensor) const;

 private:
  void find_batch();
  void check_options() const;
  void bind_all();
  void check_range(const std::string& symbol, std::int64_t value) const;

  const Program& program_;
  const ImportOptions& options_;
  std::string batch_symbol_;  // empty: the batch is built in
  std::int64_t batch_ = 1;
  std::map<std::string, std::int64_t> values_;
};

}  // namespace strato::exported_program_import
