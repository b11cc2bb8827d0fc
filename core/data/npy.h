// NumPy's .npy format, little endian, C order: numpy.load() reads what is written, and so does any
// PyTorch through torch.from_numpy(). A bf16, which NumPy lacks, is stored as the unsigned 16 bits
// that it is made of.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/graph/value/graph.h"
#include "core/io/file.h"

namespace strato {

// "12.npy": a number cannot lead out of its folder.
bool is_numbered_npy(std::string_view name);

// A file's content up to the elements (version 1.0 of the format).
std::string npy_header(DataType type, const Shape& shape);

// A file that NumPy or npy_header() began; elements are read as they are looked at.
class NpyFile {
 public:
  // Throws InputError for what is no .npy file or not whole, and for what is never read: Python
  // objects (a pickle), records, text, big endian, Fortran order.
  explicit NpyFile(const std::filesystem::path& file);

  DataType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  std::string_view elements() const { return elements_; }

 private:
  MappedFile file_;
  DataType type_ = DataType::F32;
  Shape shape_;
  std::string_view elements_;
};

}  // namespace strato
