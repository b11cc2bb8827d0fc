// The elements of a model's tensors as they are in its file, or in files beside it: for looking at
// weights without copying them.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/io/file.h"
#include "plugins/importers/onnx/read/value.h"

namespace strato::onnx_import {

// Data that were left out of the message (without_payloads()): a field of the model file.
struct Payload {
  unsigned field = 0;
  unsigned long long offset = 0, size = 0;
};
std::optional<Payload> payload_of(const onnx::TensorProto& tensor);
// Tells whether this field holds elements as they are in memory, and no packed numbers.
bool is_plain(unsigned field);

// Maps files when they are first asked for, and keeps them. Not thread-safe.
class StoredBytes {
 public:
  StoredBytes(std::string model, std::filesystem::path folder)
      : model_(std::move(model)), beside_(std::move(folder)) {}

  // All elements, little endian; empty: they are not there, not whole, or not as in memory. They
  // are valid as long as this object and the message are.
  std::string_view of(const onnx::TensorProto& tensor) const;

 private:
  std::string_view part(const std::filesystem::path& file, std::size_t offset,
                        std::size_t size) const;

  std::string model_;
  mutable ExternalFiles beside_;
  mutable std::map<std::filesystem::path, std::unique_ptr<MappedFile>> files_;  // null: unreadable
};

}  // namespace strato::onnx_import
