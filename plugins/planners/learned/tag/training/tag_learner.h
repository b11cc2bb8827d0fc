// The learner of `tag` (TAG 4.2.2 and 5.2): searches on random models and clusters make examples,
// the network learns from them, and later searches are guided by it.
//
// Work goes in rounds: a few searches side by side with the network as it is, then a few steps of
// the optimizer on minibatches drawn from the latest examples. Of several processes each searches
// for itself.
#pragma once

#include <vector>

#include "plugins/planners/learned/kit/training/learner.h"
#include "plugins/planners/learned/tag/training/example_buffer.h"

namespace strato::tag {

class TagLearner final : public learned::Learner {
 public:
  // `options` must outlive it. Throws InputError.
  TagLearner(const TrainingOptions& options, const TrainSettings& settings);

  std::string fingerprint() const;

  learned::TrainedNetwork& network() override { return network_; }
  void hold_out(const Phase& phase, const std::stop_token& stop) override;
  void collect(std::int64_t step, const Phase& phase, const std::stop_token& stop) override;
  std::optional<InputError> nothing_to_learn() const override;
  std::optional<double> learn(std::int64_t step, double rate, const Phase& phase,
                              const std::stop_token& stop) override;
  void measure(TrainingPoint& point) override;
  double rate() const override { return settings_.learn.rate; }
  learned::Collected collected() const override { return collected_; }
  std::string experience() const override;
  void restore(const learned::Collected& collected, std::string_view experience,
               const std::string& file) override;

 private:
  SearchOrder order_of(std::int64_t search, int rank) const;
  SearchOrder held_out_order(int search) const;
  std::vector<Searched> search_all(std::span<const SearchOrder> orders,
                                   const std::stop_token& stop);
  void remember(std::span<const SearchOrder> orders, std::span<const Searched> searched);

  const TrainingOptions& options_;
  const TrainSettings settings_;
  TrainingInstances instances_;
  Network network_;
  ExampleBuffer buffer_;
  std::vector<Example> held_out_;
  BestKnown known_;
  learned::Collected collected_;
};

}  // namespace strato::tag
