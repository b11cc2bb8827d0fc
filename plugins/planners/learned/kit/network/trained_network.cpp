#include "plugins/planners/learned/kit/network/trained_network.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/io/file.h"
#include "plugins/planners/learned/kit/network/trainable.h"
#include "plugins/planners/learned/kit/network/weights.h"

namespace strato::learned {

TrainedNetwork::TrainedNetwork(std::unique_ptr<Trainable> trainable)
    : trainable_(std::move(trainable)) {}
TrainedNetwork::TrainedNetwork(TrainedNetwork&&) noexcept = default;
TrainedNetwork& TrainedNetwork::operator=(TrainedNetwork&&) noexcept = default;
TrainedNetwork::~TrainedNetwork() = default;

std::size_t TrainedNetwork::parameter_count() const { return trainable_->parameters.size(); }
std::vector<float> TrainedNetwork::parameters() const {
  return floats_of(trainable_->parameters.values);
}
std::vector<float> TrainedNetwork::gradients() const {
  return floats_of(trainable_->parameters.gradients);
}
void TrainedNetwork::set_parameters(std::span<const float> values) {
  trainable_->parameters.assign(values);
}
void TrainedNetwork::set_gradients(std::span<const float> values) {
  trainable_->parameters.assign_gradients(values);
}

NetworkState TrainedNetwork::state() const { return {parameters(), trainable_->optimizer.state()}; }

void TrainedNetwork::restore(const NetworkState& state) {
  if (state.parameters.size() != parameter_count())
    throw InputError("", "network", "it is of other sizes",
                     "start the training anew, or take another checkpoint");
  set_parameters(state.parameters);
  trainable_->optimizer.restore(state.optimizer, trainable_->parameters);
}

void TrainedNetwork::share_steps(ShareStep share) { trainable_->share = std::move(share); }
void TrainedNetwork::move_to(const std::string& device) { trainable_->move_to(device); }

const std::string& TrainedNetwork::note() const { return trainable_->note; }

std::string TrainedNetwork::bytes(std::string_view note) const {
  Weights weights = empty_weights();
  weights.note = note;
  weights.parameters = parameters();
  return write_weights(weights);
}

void TrainedNetwork::save(const std::filesystem::path& file, std::string_view note) const {
  write_file(file, bytes(note));
}

void TrainedNetwork::take(const Weights& weights, const std::string& file) {
  if (weights.parameters.size() != parameter_count())
    throw InputError(file, "",
                     fmt::format("it has {} weights where a network of its sizes has {}",
                                 weights.parameters.size(), parameter_count()),
                     "make the weights again (stratoscope-cli train " + weights.planner + ")");
  trainable_->parameters.allocate(0, trainable_->device);
  set_parameters(weights.parameters);
  trainable_->note = weights.note;
}

}  // namespace strato::learned
