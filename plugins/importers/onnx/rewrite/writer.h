// Writes ops in the place of one of a translation (internal to this room).
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plugins/importers/onnx/scope/scope.h"

namespace strato::onnx_import {

class OpWriter {
 public:
  // Ops are named behind the one whose place they take.
  OpWriter(Translation& translation, std::string name)
      : out_(translation), name_(std::move(name)) {}

  Entry* constant(std::vector<std::int64_t> elements);
  // Adds an op and returns what it makes: `result`, or a new tensor of the type of its first input.
  Entry* add(const std::string& type, Entries inputs, Shape shape,
             std::vector<std::pair<std::string, Attribute>> attributes = {},
             Entry* result = nullptr);
  // The same elements under another shape; no op where that is none.
  Entry* reshape(Entry* tensor, Shape shape);
  Entry* slice(Entry* tensor, std::size_t axis, std::int64_t begin, std::int64_t end);
  std::vector<TranslatedOp> finish() && { return std::move(ops_); }

 private:
  Translation& out_;
  std::string name_;
  std::vector<TranslatedOp> ops_;
};

// By tensor: the op that makes it.
using Makers = std::unordered_map<const Entry*, const TranslatedOp*>;

// The ops that take an op's place; nothing: it stays.
using Rewritten = std::optional<std::vector<TranslatedOp>>;
Rewritten stretched_tile(const TranslatedOp& tile, OpWriter writer);
Rewritten written_box(const TranslatedOp& scatter, OpWriter writer);
Rewritten rows_of_samples(const TranslatedOp& gather, OpWriter writer, const Makers& makers);

}  // namespace strato::onnx_import
