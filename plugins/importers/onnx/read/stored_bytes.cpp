#include "plugins/importers/onnx/read/stored_bytes.h"

#include <cstdio>

#include "core/base/error.h"
#include "plugins/importers/onnx/read/read_model.h"

namespace strato::onnx_import {

using onnx::TensorProto;

std::optional<Payload> payload_of(const TensorProto& tensor) {
  std::optional<Payload> payload;
  for (const auto& entry : tensor.external_data()) {
    Payload read;
    if (entry.key() == kPayloadKey && std::sscanf(entry.value().c_str(), "%u %llu %llu",
                                                  &read.field, &read.offset, &read.size) == 3)
      payload = read;
  }
  return payload;
}

bool is_plain(unsigned field) {
  return field == TensorProto::kRawDataFieldNumber || field == TensorProto::kFloatDataFieldNumber ||
         field == TensorProto::kDoubleDataFieldNumber;
}

std::string_view StoredBytes::of(const TensorProto& tensor) const {
  const std::optional<DataType> type = data_type_of(tensor.data_type());
  const Shape shape(tensor.dims().begin(), tensor.dims().end());
  const std::optional<std::int64_t> count = element_count(shape);
  if (!type || !count || !is_readable(tensor.data_type())) return {};
  const auto size = static_cast<std::size_t>(*count * size_of(*type));
  std::string_view bytes = tensor.raw_data();
  if (tensor.data_location() == TensorProto::EXTERNAL) {
    const ExternalPlace place = beside_.place_of(tensor);
    if (place.problem.empty()) bytes = part(place.file, place.offset, size);
  } else if (const auto payload = payload_of(tensor)) {
    if (is_plain(payload->field)) bytes = part(model_, payload->offset, payload->size);
  } else if (tensor.float_data_size() > 0) {
    bytes = {reinterpret_cast<const char*>(tensor.float_data().data()),
             static_cast<std::size_t>(tensor.float_data_size()) * sizeof(float)};
  }
  return bytes.size() == size ? bytes : std::string_view();
}

std::string_view StoredBytes::part(const std::filesystem::path& file, std::size_t offset,
                                   std::size_t size) const {
  const auto [place, fresh] = files_.try_emplace(file);
  try {
    if (fresh) place->second = std::make_unique<MappedFile>(file, "the file of the weights");
  } catch (const InputError&) {  // reading the weights will say so
  }
  if (place->second == nullptr) return {};
  const std::string_view all = place->second->bytes();
  return offset <= all.size() && size <= all.size() - offset ? all.substr(offset, size)
                                                             : std::string_view();
}

}  // namespace strato::onnx_import
