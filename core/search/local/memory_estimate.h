// A rough guess of the memory that op groups need, and strategies that spread it: what a search
// turns to while nothing fits (TAG 3.3: "more aggressive model parallelism"). Nobody is promised
// anything by it: the simulator decides.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/search/api/problem.h"
#include "core/search/local/neighbourhood.h"

namespace strato {

class MemoryEstimate {
 public:
  explicit MemoryEstimate(const Problem& problem);

  // Bytes on every device of the decision, roughly; bytes as doubles throughout.
  double bytes(GroupId group, const Decision& decision) const;
  double capacity(DeviceId device) const;
  std::size_t device_count() const { return problem_.cluster->device_count(); }
  // The largest part of any device's memory that is taken when `loads` (bytes by device) are there
  // already.
  double fullness(GroupId group, const Decision& decision, std::span<const double> loads) const;
  void add(GroupId group, const Decision& decision, std::vector<double>& loads) const;

  // Complete strategies that put stretches of the graph on one device after another, in proportion
  // to its memory: for the largest devices alone up to all of them, for several guesses of how much
  // of the activations is alive at once, and with groups whose activations are too many for one
  // device under `actions[0]`: data parallelism. `actions` has to hold the devices' own actions;
  // those without are not used. No duplicates; may be empty.
  std::vector<ActionVector> packings(std::span<const Decision> actions) const;

 private:
  struct Need {
    double kept = 0;         // parameters, gradients, optimizer state
    double activations = 0;  // made by forward ops for the backward ones
    double largest = 0;      // of one op: a group cannot be divided finer
  };
  ActionVector pack(std::span<const std::int32_t> bins, std::span<const Decision> actions,
                    double alive) const;

  Problem problem_;
  IdVector<GroupId, Need> needs_;
  std::vector<GroupId> along_;
};

}  // namespace strato
