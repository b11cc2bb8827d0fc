// NumPy's .npy format (version 1.0), little endian, C order: numpy.load() reads it, and so does any
// PyTorch through torch.from_numpy(). A bf16 is stored as the unsigned 16 bits that it is made of.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace strato::worker {

// The file's content up to the elements.
std::string npy_header(DataType type, const Shape& shape);

// The elements of a file that npy_header() began. Throws InputError when it is of another type or
// shape, or has too few or too many bytes.
std::string read_npy(const std::filesystem::path& file, DataType type, const Shape& shape);

}  // namespace strato::worker
