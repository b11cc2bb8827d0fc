// What a measurement of a model's ops found, as tables and as JSON.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/cost/value/profile.h"
#include "core/io/json.h"
#include "core/launch/profiling/op_times.h"

namespace strato::cli {

struct ProfileResult {
  std::string model, device, output;
  std::shared_ptr<const Graph> graph;  // at the largest batch
  Profile profile;                     // of this measurement alone
  std::vector<ProfiledStep> steps;     // by falling batch size
  std::vector<OpTime> ops;             // at the largest batch
  std::vector<std::string> warnings;   // one sentence each
  bool stopped = false;                // by Ctrl-C
};

// "lenet, batches 64 32 16 8; 12.3 ms a step at 64": kept in the profile, for people.
std::string profile_name(const ProfileResult& result);

Json profile_json(const ProfileResult& result, double wall_seconds);
std::string profile_text(const ProfileResult& result);

}  // namespace strato::cli
