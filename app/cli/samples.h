// The files that options name: bundled samples by their names, others as they are.
#pragma once

#include <filesystem>
#include <string>

#include "core/io/samples.h"

namespace strato::cli {

std::filesystem::path model_path(const std::string& given);
std::filesystem::path cluster_path(const std::string& given);

// The same; throws InputError with the names that are near when there is neither.
std::filesystem::path found_model(const std::string& given);
std::filesystem::path found_cluster(const std::string& given);

}  // namespace strato::cli
