// A learner is what differs from one planner's training to another's: how experience is collected,
// what a step learns from it, and how that is measured. training.h has all the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/base/error.h"
#include "core/search/api/trainer.h"
#include "plugins/planners/learned/kit/network/trained_network.h"

namespace strato::learned {

// The amount of experience that has been collected; checkpoints keep it.
struct Collected {
  std::int64_t searches = 0;
  std::int64_t examples = 0;  // that searches made, or evaluations that they took
};

class Learner {
 public:
  using Phase = std::function<void(const std::string&)>;  // told what is being done
  virtual ~Learner() = default;

  virtual TrainedNetwork& network() = 0;
  // Searches what only measures: the same after every pause.
  virtual void hold_out(const Phase& phase, const std::stop_token& stop) = 0;
  // Collects the experience that is due before this step. What is stopped amid leaves nothing
  // behind, and is done again.
  virtual void collect(std::int64_t step, const Phase& phase, const std::stop_token& stop) = 0;
  // Says why nothing can be learned, though experience was collected; nothing where it can.
  virtual std::optional<InputError> nothing_to_learn() const { return std::nullopt; }
  // One step of the network at about this rate; returns its loss. Nothing when it was stopped amid:
  // then it has left nothing behind, as when it throws PeerLost.
  virtual std::optional<double> learn(std::int64_t step, double rate, const Phase& phase,
                                      const std::stop_token& stop) = 0;
  virtual void measure(TrainingPoint& point) = 0;

  virtual double rate() const = 0;  // of learning, at its highest
  virtual Collected collected() const = 0;
  // The experience as a value of a container (core/io/container.h).
  virtual std::string experience() const = 0;
  // Throws InputError for experience of another training. `file`: its name, for messages.
  virtual void restore(const Collected& collected, std::string_view experience,
                       const std::string& file) = 0;
};

}  // namespace strato::learned
