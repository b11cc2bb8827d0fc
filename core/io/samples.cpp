#include "core/io/samples.h"

#include <algorithm>

#include "core/io/file.h"

namespace strato {
namespace fs = std::filesystem;
namespace {

fs::path folder_of(const SampleFolder& folder) {
  return home_directory() / "sample_graphs" / folder.name;
}

bool has_extension_of(const fs::path& file, const SampleFolder& folder) {
  const fs::path extension = file.extension();
  return !extension.empty() &&
         (extension == folder.extension || extension == folder.other_extension);
}

}  // namespace

std::vector<std::string> sample_names(const SampleFolder& folder) {
  std::vector<std::string> names;
  std::error_code error;  // an installation without samples has none
  for (const auto& entry : fs::directory_iterator(folder_of(folder), error))
    if (has_extension_of(entry.path(), folder)) names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

fs::path sample_path(const SampleFolder& folder, const std::string& name) {
  fs::path other = folder_of(folder) / (name + folder.other_extension);
  std::error_code error;
  if (*folder.other_extension != '\0' && fs::is_regular_file(other, error)) return other;
  return folder_of(folder) / (name + folder.extension);
}

fs::path sample_or_file(const std::string& given, const SampleFolder& folder) {
  std::error_code error;
  if (given.empty() || given.find('/') != std::string::npos) return given;
  if (fs::exists(given, error) && !fs::is_directory(given, error)) return given;
  const fs::path sample = sample_path(folder, given);
  return fs::is_regular_file(sample, error) ? sample : fs::path(given);
}

}  // namespace strato
