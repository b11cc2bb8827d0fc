// What is in a graph or a cluster, as tables and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/cluster/value/cluster.h"
#include "core/graph/value/graph.h"
#include "core/io/json.h"

namespace strato::cli {

struct TypeCount {
  std::string type;
  std::int64_t ops = 0;
  double flops = 0;
  Bytes activation_bytes;                       // of its outputs
  std::int64_t concat = 0, sum = 0, whole = 0;  // splittability
  bool estimated = false;
};

struct GraphInspection {
  std::string name;
  std::int64_t batch = 1;
  bool batch_assumed = false;
  bool training = true;
  bool untrainable = false;  // although a training graph was asked for
  std::size_t file_ops = 0;  // as imported
  std::size_t ops = 0, tensors = 0;
  double forward_flops = 0, flops = 0;
  std::int64_t parameter_count = 0;
  std::int64_t frozen_count = 0;  // of them: of parameters that are not trained
  Bytes parameter_bytes, optimizer_bytes, activation_bytes;
  std::int64_t concat = 0, sum = 0, whole = 0;
  std::string batch_stop;            // describe_batch_stop()
  std::vector<std::string> remarks;  // the importer's
  std::vector<TypeCount> types;      // most FLOPs first, then most ops, then by name
  std::vector<std::string> estimated_types;
};

// `imported` as it is in the file; `graph` what is planned.
GraphInspection inspect_graph(const Graph& imported, const Graph& graph, bool batch_assumed);
Json inspection_json(const GraphInspection& inspection);
std::string inspection_text(const GraphInspection& inspection);

Json cluster_json(const Cluster& cluster);
std::string cluster_text(const Cluster& cluster);

}  // namespace strato::cli
