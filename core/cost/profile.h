// Profiles: measured times of ops, transfers and collectives, and measured memory, as a file that can
// be merged with others (TAG 4.1.2; Celeritas 4.2.1; FastT 4, adaptive cost models).
//
// An op is known by its signature: type, attributes, element types and shapes with the batch left out,
// so that equal ops of any model and any batch size share measurements.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/base/units.h"
#include "core/cluster/cluster.h"
#include "core/cost/cost_model.h"
#include "core/graph/graph.h"

namespace strato {

std::string op_signature(const Graph& graph, OpId op);

struct OpMeasurement {
  std::int64_t samples = 1;  // of the batch; for ops that do not split: the whole batch's
  Nanos time;                // median over the repetitions
  Nanos spread;              // half of the middle 50 %
  std::int64_t repetitions = 1;
};

struct OpProfile {
  std::string signature;
  std::string gpu;                          // GPU type's name or alias, or "cpu"
  std::vector<OpMeasurement> measurements;  // ascending by samples, unique
};

struct SizedMeasurement {
  Bytes bytes;
  Nanos time, spread;
  std::int64_t repetitions = 1;
};

// Between two places: devices ("v100:0"), or what stands for all alike ("GPU type/same machine").
struct TransferProfile {
  std::string from, to;
  std::vector<SizedMeasurement> measurements;  // ascending by bytes, unique, at least two
};

struct CollectiveProfile {
  Collective kind = Collective::AllReduce;
  std::vector<std::string> devices;  // names, ascending in the cluster
  std::vector<SizedMeasurement> measurements;
};

// Peak memory of one training step at several batch sizes (Celeritas 4.2.1, "Standard Evaluation").
struct MemoryMeasurement {
  std::string graph;  // the model's name
  std::string gpu;
  std::int64_t batch = 1;
  Bytes peak;
};

struct Profile {
  std::string name, host, software;  // for people
  std::vector<OpProfile> ops;        // ascending by (gpu, signature), unique
  std::vector<TransferProfile> transfers;
  std::vector<CollectiveProfile> collectives;
  std::vector<MemoryMeasurement> memory;

  bool empty() const;
  Digest digest() const;
};

// Throw InputError with the exact place: negative, zero or missing times, conflicting units, fewer than
// two points of a transfer, ...
Profile read_profile(const std::filesystem::path& file);
Profile parse_profile(std::string_view json, const std::string& file);
std::string profile_json(const Profile& profile);
void write_profile(const std::filesystem::path& file, const Profile& profile);

// All measurements of both; where both measured the same, the repetitions are pooled.
Profile merge(const Profile& a, const Profile& b);

// How much of a graph on a cluster a profile covers, and how well its fits meet its measurements.
struct ProfileReport {
  struct Gpu {
    std::string name;
    std::size_t ops = 0, measured = 0;  // that make tasks; with a measurement
    double time_covered = 0;            // share of the step's compute time, 0 to 1
    double median_error = 0, worst_error = 0;  // relative, leave-one-out over batch sizes
  };
  std::vector<Gpu> gpus;
  std::vector<std::string> unused;   // signatures in the profile that the graph does not have
  std::vector<std::string> missing;  // ops without a measurement, most expensive first
};
ProfileReport report(const Profile& profile, const Graph& graph, const Cluster& cluster);

}  // namespace strato
