// Tensors in files, one at a time: what weights and input batches are read from, whatever the
// format.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/graph/value/graph.h"
#include "core/io/file.h"

namespace strato {

struct StoredTensor {
  std::string name;
  DataType type = DataType::F32;
  Shape shape;
};

// Safe from one thread at a time.
class TensorSource {
 public:
  virtual ~TensorSource() = default;
  virtual const std::string& file() const = 0;  // for messages
  virtual const std::vector<StoredTensor>& tensors() const = 0;
  // Why tensors may be missing, for people: "weights.bin is not there"; or nothing.
  virtual std::string note() const { return {}; }

  // The elements of tensors()[index], little endian, row by row, handed to `put` in order and in
  // pieces, so that no tensor needs to be in memory whole. Throws InputError when the file is
  // damaged or lies where it may not.
  virtual void read(std::size_t index, const PutPart& put) const = 0;
};

}  // namespace strato
