// A profile seen from one graph and one cluster. Private to this folder.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/cost/value/profile.h"

namespace strato {

// The op measurements on the cluster's GPU types, under the types' own names (a profile may use an
// alias), pooled where that joins them; ops of the graph that do not follow the batch have one
// measurement, at one sample. Says what cannot be used in `warnings`.
struct BoundProfile {
  BoundProfile(const Profile& profile, const Graph& graph, const Cluster& cluster,
               std::vector<std::string>& warnings);

  const OpProfile* find(const std::string& gpu, const std::string& signature) const;

  std::map<std::string, std::vector<OpId>> ops;  // of the graph, views left out, by signature
  std::vector<OpProfile> measured;               // ascending by (GPU type's name, signature)
  std::vector<std::string> unused;               // signatures that the graph does not have
};

}  // namespace strato
