#include "plugins/importers/onnx/content/content.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "plugins/importers/onnx/content/matrix.h"
#include "plugins/importers/onnx/read/stored_bytes.h"
#include "plugins/importers/onnx/read/value.h"

namespace strato::onnx_import {
namespace {

// Axes of one element left out. Nothing: it is no matrix of floating-point numbers that are there.
std::optional<Matrix> matrix_of(const onnx::TensorProto& tensor, const StoredBytes& stored) {
  const std::optional<DataType> type = data_type_of(tensor.data_type());
  if (!type || !is_floating(*type)) return std::nullopt;
  std::vector<std::size_t> extents;
  for (const std::int64_t extent : tensor.dims())
    if (extent > 1) extents.push_back(static_cast<std::size_t>(extent));
  if (extents.empty() || extents.size() > 2) return std::nullopt;
  const std::string_view bytes = stored.of(tensor);
  if (bytes.empty()) return std::nullopt;
  return Matrix{bytes, *type, extents.size() == 2 ? extents[0] : 1, extents.back()};
}

}  // namespace

Contents::Contents(const Model& model) {
  const StoredBytes stored(model.file, model.folder);
  struct Known {
    std::string name;
    Matrix matrix;
  };
  std::unordered_map<std::string, std::vector<Known>> alike;  // by fingerprint
  for (const auto& tensor : model.proto.graph().initializer()) {
    const std::optional<Matrix> matrix = matrix_of(tensor, stored);
    if (!matrix) continue;
    if (is_triangle(*matrix) || has_waves(*matrix) || has_powers(*matrix))
      tables_.insert(tensor.name());
    const std::string elements = tensor.dims_size() == 2 ? fingerprint(*matrix) : std::string();
    if (elements.empty()) continue;
    telling_.insert(tensor.name());
    std::vector<Known>& others = alike[elements];
    const auto same = std::ranges::find_if(others, [&](const Known& other) {
      return other.matrix.type == matrix->type &&
             (equal(other.matrix, *matrix) || equal_turned(other.matrix, *matrix));
    });
    if (same == others.end())
      others.push_back({tensor.name(), *matrix});
    else
      copies_[tensor.name()] = {same->name, !equal(same->matrix, *matrix)};
  }
}

const Contents::Copy* Contents::copy(const std::string& initializer) const {
  const auto found = copies_.find(initializer);
  return found != copies_.end() ? &found->second : nullptr;
}

}  // namespace strato::onnx_import
