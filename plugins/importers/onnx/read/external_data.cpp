#include "plugins/importers/onnx/read/external_data.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace strato::onnx_import {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> number_in(const std::string& text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  return number;
}

bool is_below(const fs::path& file, const fs::path& folder) {
  const auto [end, ignored] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end();
}

}  // namespace

ExternalPlace external_place(const onnx::TensorProto& tensor, const fs::path& folder) {
  ExternalPlace place;
  fs::path location;
  bool numbers = true;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = fs::path(entry.value()).lexically_normal();
    const bool is_offset = entry.key() == "offset";
    if (!is_offset && entry.key() != "length") continue;
    const auto number = number_in(entry.value());
    numbers = numbers && number.has_value();
    if (is_offset) place.offset = number.value_or(0);
    if (!is_offset) place.length = number;
  }
  std::error_code error;
  const fs::path home = fs::canonical(folder.empty() ? "." : folder, error);
  place.file = fs::weakly_canonical(home / location, error);
  const std::string name = "\"" + location.string() + "\"";
  if (location.empty() || location.is_absolute() || error || !is_below(place.file, home)) {
    place.problem = name + " is not in the model's folder";
  } else if (!fs::is_regular_file(place.file, error)) {
    place.problem = name + " is not there";
    place.absent = true;
  } else if (!numbers) {
    place.problem = "its offset or length is no number";
  }
  return place;
}

}  // namespace strato::onnx_import
