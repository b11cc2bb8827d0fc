// Models and clusters that are bundled: a name without folder and extension stands for them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace strato {

struct SampleFolder {
  const char* name;  // of "stratoscope-cli list" too
  const char* extension;
  const char* other_extension = "";
};
inline constexpr SampleFolder kModels{"models", ".onnx", ".json"}, kClusters{"clusters", ".json"};

std::vector<std::string> sample_names(const SampleFolder& folder);  // ascending
std::filesystem::path sample_path(const SampleFolder& folder, const std::string& name);
// `given` as it is when there is such a file (a folder of that name is none), else the bundled
// sample of that name.
std::filesystem::path sample_or_file(const std::string& given, const SampleFolder& folder);

}  // namespace strato
