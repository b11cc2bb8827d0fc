// Models and clusters that are bundled: a name without folder and extension stands for them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace strato::cli {

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
std::filesystem::path model_path(const std::string& given);
std::filesystem::path cluster_path(const std::string& given);

// The same; throws InputError with the names that are near when there is neither.
std::filesystem::path found_model(const std::string& given);
std::filesystem::path found_cluster(const std::string& given);

}  // namespace strato::cli
