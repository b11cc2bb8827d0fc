// A program of torch.export as its archive has it: tensors with their types and symbolic shapes,
// calls of ATen's ops, and what the program's inputs and outputs are. Sizes have numbers once the
// symbols are bound. Source: torch/_export/serde/schema.py of PyTorch (schema version 8).
//
// Values that borrow nothing; safe to read from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/io/json.h"

namespace strato::exported_program_import {

inline constexpr const char* kExportAgain = "export the program again";  // a remedy

struct Size {  // a number, or an expression of symbols
  std::int64_t number = 0;
  std::string expression;  // empty: the number
};

struct TensorMeta {
  DataType type = DataType::F32;
  std::vector<Size> sizes;
};

// Calls in their order, and the tensors and numbers that they exchange, by name.
struct Block {
  std::vector<std::string> inputs, outputs;  // empty names: no tensors
  std::vector<JsonView> nodes;
  std::unordered_map<std::string, TensorMeta> tensors;
  std::unordered_map<std::string, Size> numbers;
};
// Throws InputError, also for element types that have no counterpart here.
Block read_block(const JsonView& graph);

enum class InputKind : std::uint8_t { Data, Parameter, Constant };

struct Program {
  std::string file;
  Block block;
  std::vector<std::pair<InputKind, std::string>> inputs;  // as block.inputs: what, and called how
  std::vector<std::string> results;                       // what the program hands back: tensors
  struct Range {
    std::optional<std::int64_t> least, most;
  };
  std::map<std::string, Range> ranges;  // by symbol
};
// `text` is the JSON of the archive. Throws InputError.
Program read_program(const std::string& text, const std::string& file);

}  // namespace strato::exported_program_import
