// Profiles: measured times of ops, transfers and collectives, and measured memory, as a file that
// can be merged with others (TAG 4.1.2; Celeritas 4.2.1; FastT 4, adaptive cost models).
//
// An op is known by its signature: type, attributes, element types and shapes with the batch left
// out, so that equal ops of any model and any batch size share measurements.
//
// The file ("format": "stratoscope-profile", version 1) is JSON with its units written out:
//   {"format": "stratoscope-profile", "version": 1, "units": {"time": "us", "bytes": "B"},
//    "name": …, "host": …, "software": …,
//    "ops": [{"gpu": "V100", "signature": "Relu(float32[B,64])->(float32[B,64])",
//             "measurements": [{"samples": 8, "time": 11.25, "spread": 0.2, "repetitions": 30}]}],
//    "transfers": [{"from": "v100:0", "to": "v100:1",
//                   "measurements": [{"bytes": 1024, "time": 9.5}, …]}],
//    "collectives": [{"kind": "all-reduce", "devices": ["v100:0", "v100:1"],
//                     "measurements": […]}],
//    "memory": [{"graph": "vgg19", "gpu": "V100", "batch": 32, "peak": 5368709120}]}
// spread and repetitions may be left out (0 and 1). "units" may also stand in an entry, but only to
// say the same as the file's. A value type: safe to read from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/base/units.h"
#include "core/cost/value/cost_model.h"
#include "core/graph/value/graph.h"

namespace strato {

struct OpMeasurement {
  std::int64_t samples = 1;  // of the batch; the whole batch for ops that follow but do not split
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
  Nanos time;
  Nanos spread;
  std::int64_t repetitions = 1;
};

// Transfers between two devices ("v100:0" to "v100:1"), or between all pairs alike: from a GPU type
// to the same or another one with where it is ("V100-SXM2-32GB" to "V100-SXM2-32GB/same machine",
// "…/other machine").
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
  Digest digest() const;  // of the measurements: not of name, host and software
};

// The same measurements in the documented order, each thing once. What was measured several times
// is pooled: the time is the mean of the medians, weighted by their repetitions (medians of samples
// that are gone cannot be pooled exactly; this is exact where they agree); the spread is the root
// of the weighted mean of spread^2 + (median - pooled)^2, so that it grows where they disagree;
// repetitions add up. Of memory the greatest peak is kept.
Profile normalised(Profile profile);

// All measurements of both, pooled as above. Commutative.
Profile merge(const Profile& a, const Profile& b);

// `known` after new measurements came (FastT 4, adaptive cost models): merged, but what `recent`
// measured again counts only `keep` (0 to 1) of its repetitions in `known`, at least one. Called
// after every round, a measurement's weight falls as keep^rounds: costs follow a machine whose
// speed drifts.
Profile refit(const Profile& known, const Profile& recent, double keep = 0.5);

// Throw InputError with the exact place: negative, zero or missing times, conflicting units, fewer
// than two points of a transfer or collective, one thing measured twice with other results, ...
Profile read_profile(const std::filesystem::path& file);
Profile parse_profile(std::string_view json, const std::string& file);

// In the documented order, whatever the order in `profile`; what stands there twice is pooled.
// parse_profile gives an equal profile back.
std::string profile_json(const Profile& profile);
void write_profile(const std::filesystem::path& file, const Profile& profile);

// What an op is known by:
// "Conv{group=1,pads=1x1x1x1}(float32[B,64,56,56],float32[64,64,3,3])->(float32[B,64,56,56])". The
// extent that carries the batch is written relative to it: "B", or "12*B" where steps or heads are
// merged with the samples. Left out: real-valued attributes (they change values, not work) and
// those that the shapes repeat. Parameters and all other inputs are in it. ASCII.
std::string op_signature(const Graph& graph, OpId op);

// Tells whether the op's time depends on the number of samples: a tensor that it reads or writes
// carries the batch ("B" is in its signature). Others (updates, work on weights alone) are measured
// once, as one sample; their measurements count whatever their samples say.
bool follows_batch(const Graph& graph, OpId op);

}  // namespace strato
