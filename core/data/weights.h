// Parameters that a job starts from, where they are not seeded: the folder weights/ in the job's, a
// checkpoint without optimizer state (core/data/tensor_folder.h). Throws InputError; safe from any
// thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/data/tensor_source.h"
#include "core/graph/value/graph.h"

namespace strato {

inline std::filesystem::path weights_folder(const std::filesystem::path& job) {
  return job / "weights";
}

// A constant that the importer found too large to keep in the graph.
bool is_unknown_constant(const Tensor& tensor);

// The graph's parameters that the source has not.
std::vector<std::string> missing_parameters(const Graph& graph, const TensorSource& source);

// A parameter is missing, or has another shape or a type that does not widen to the graph's.
void check_weights(const Graph& graph, const TensorSource& source);

// "a, b and 7 more": the first of many names, for a message.
std::string names_text(const std::vector<std::string>& names);

struct WeightsReport {
  std::size_t parameters = 0;
  std::int64_t bytes = 0;
  std::vector<std::string> not_finite;  // parameters with a NaN or an infinity
  std::vector<std::string> unused;      // of the source: no parameter of the graph
};
// Writes weights/ into the job's folder, one tensor at a time.
WeightsReport stage_weights(const std::filesystem::path& job, const Graph& graph,
                            const TensorSource& source);

}  // namespace strato
