#include "plugins/planners/learned/gdp/training/ppo_learner.h"

#include "core/search/evaluate/simulating_evaluator.h"
#include "plugins/planners/learned/kit/training/peers.h"
#include "plugins/planners/learned/kit/training/random_stream.h"

namespace strato::gdp {

// All processes make the same number of steps of the network: of several, none stops amid.
std::optional<double> PpoLearner::play_rounds(PlacementTask& task, std::int64_t step,
                                              const std::stop_token& stop) {
  const auto stopped = [&] { return options_.processes == 1 && stop.stop_requested(); };
  const std::uint64_t seed = learned::random_stream(options_.seed, "rounds", of_this_process(step));
  double loss = 0;
  for (int round = 0; round < settings_.rounds && !stopped(); ++round)
    loss =
        -play_round(network_, task, settings_.ppo, round, seed, settings_.ppo.rollouts).mean_reward;
  if (stopped()) return std::nullopt;
  return loss;
}

// The rate is that of the options: a visit is no step of the network.
std::optional<double> PpoLearner::learn(std::int64_t step, double, const Phase& phase,
                                        const std::stop_token& stop) {
  const learned::NetworkState before = network_.state();
  const Pair pair = pairs_.pair(of_this_process(step), settings_.whole);
  phase("placing " + pairs_.problems().name(pair.key));
  const Problem problem = pairs_.problems().problem(pair.key);
  const auto evaluator = make_simulating_evaluator(problem, options_.threads);
  PlacementOptions how;
  how.replicate = !pair.whole;
  how.neighbours = network_.size().neighbours;
  PlacementTask task(problem, *evaluator, how);
  task.evaluate(task.known_placements());
  std::optional<double> loss;
  try {
    loss = play_rounds(task, step, stop);
  } catch (const learned::PeerLost&) {
    network_.restore(before);
    throw;
  }
  if (!loss) {
    network_.restore(before);
    return loss;
  }
  collected_.examples += task.evaluations();
  ++collected_.searches;
  return loss;
}

}  // namespace strato::gdp
