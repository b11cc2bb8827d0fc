#include "plugins/planners/tag/network.h"

#include "core/base/error.h"
#include "core/io/file.h"
#include "plugins/planners/tag/model.h"
#include "plugins/planners/tag/weights_file.h"

namespace strato::tag {
namespace {

at::Tensor from_floats(std::span<const float> values, const at::Device& device) {
  return at::from_blob(const_cast<float*>(values.data()),
                       {static_cast<std::int64_t>(values.size())}, at::kFloat)
      .clone()
      .to(device);
}

std::vector<const StateFeatures*> states_of(std::span<const Example> examples) {
  std::vector<const StateFeatures*> states;
  for (const Example& example : examples) states.push_back(example.state.get());
  return states;
}

// Examples of one problem, side by side.
std::span<const Example> first_run(std::span<const Example> examples) {
  std::size_t count = 1;
  while (count < examples.size() && examples[count].problem == examples[0].problem) ++count;
  return examples.first(count);
}

double total_weight(std::span<const Example> examples) {
  double sum = 0;
  for (const Example& example : examples) sum += example.weight;
  return sum;
}

}  // namespace

struct Network::State {
  explicit State(const NetworkSize& s) : size(s), model(s) {}

  // Sum of weight * cross entropy.
  at::Tensor run_loss(std::span<const Example> run) const;
  template <class Use>
  double for_each_run(std::span<const Example> examples, Use&& use) const;

  NetworkSize size;
  std::string note;
  Model model;
  at::Device device = at::kCPU;
  neural::Adam adam;
};

at::Tensor Network::State::run_loss(std::span<const Example> run) const {
  const auto states = states_of(run);
  const Batch batch(*run[0].problem, states, size.paper, device);
  std::vector<at::Tensor> targets;
  for (const Example& example : run) {
    CHECK(example.target.size() == run[0].problem->actions(), "one target an action");
    targets.push_back(from_floats(example.target, at::kCPU) * example.weight);
  }
  return -(at::stack(targets, 1).to(device) * model.log_probabilities(batch)).sum();
}

template <class Use>
double Network::State::for_each_run(std::span<const Example> examples, Use&& use) const {
  const double weight = total_weight(examples);
  if (weight <= 0) return 0;
  neural::on_one_thread();
  double sum = 0;
  while (!examples.empty()) {
    const std::span<const Example> run = first_run(examples);
    const at::Tensor loss = run_loss(run) / weight;
    use(loss);
    sum += loss.item<double>();
    examples = examples.subspan(run.size());
  }
  return sum;
}

Network::Network(std::unique_ptr<State> state) : state_(std::move(state)) {}
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

Network Network::make(const NetworkSize& size, std::uint64_t seed) {
  CHECK(size.width >= 1 && size.heads >= 1 && size.width % size.heads == 0 && size.layers >= 1,
        "a width that the heads divide");
  auto state = std::make_unique<State>(size);
  const at::NoGradGuard no_gradient;
  state->model.start(seed, state->device);
  return Network(std::move(state));
}

Network Network::parse(std::string_view bytes, const std::string& file) {
  WeightsFile weights = parse_weights(bytes, file);
  Network network = make(weights.size, 0);
  if (network.parameter_count() != weights.parameters.size())
    throw InputError(file, "",
                     "it has " + std::to_string(weights.parameters.size()) +
                         " weights where a network "
                         "of its sizes has " +
                         std::to_string(network.parameter_count()),
                     "make the weights again (stratoscope-cli train tag)");
  network.set_parameters(weights.parameters);
  network.state_->note = std::move(weights.note);
  return network;
}

Network Network::load(const std::filesystem::path& file) {
  return parse(read_file(file), file.string());
}

std::string Network::bytes(std::string_view note) const {
  return write_weights({state_->size, std::string(note), parameters()});
}

void Network::save(const std::filesystem::path& file, std::string_view note) const {
  write_file(file, bytes(note));
}

const NetworkSize& Network::size() const { return state_->size; }
const std::string& Network::note() const { return state_->note; }

// In chunks of one size, filled up with copies: then every row goes the same way through the same
// kernels, and is the same to the last bit whatever else is asked.
std::vector<std::vector<float>> Network::forward(
    const ProblemFeatures& problem, std::span<const StateFeatures* const> queries) const {
  constexpr std::size_t kChunk = 8;
  neural::on_one_thread();
  const at::NoGradGuard no_gradient;
  std::vector<std::vector<float>> result;
  for (std::size_t begin = 0; begin < queries.size(); begin += kChunk) {
    const auto asked = queries.subspan(begin, std::min(kChunk, queries.size() - begin));
    std::vector<const StateFeatures*> chunk(asked.begin(), asked.end());
    chunk.resize(kChunk, asked.back());
    const Batch batch(problem, chunk, state_->size.paper, state_->device);
    const at::Tensor rows =
        at::exp(state_->model.log_probabilities(batch)).t().contiguous().to(at::kCPU);
    for (std::size_t b = 0; b < asked.size(); ++b) {
      const float* row = rows.data_ptr<float>() + b * problem.actions();
      result.emplace_back(row, row + problem.actions());
    }
  }
  return result;
}

double Network::loss(std::span<const Example> examples) const {
  const at::NoGradGuard no_gradient;
  return state_->for_each_run(examples, [](const at::Tensor&) {});
}

double Network::backward(std::span<const Example> examples) {
  state_->model.parameters.gradients.zero_();
  return state_->for_each_run(examples, [](const at::Tensor& loss) { loss.backward(); });
}

void Network::step(const LearnOptions& options) {
  state_->adam.step(state_->model.parameters, {options.rate, options.weight_decay, options.clip});
}

std::size_t Network::parameter_count() const { return state_->model.parameters.size(); }
std::vector<float> Network::parameters() const { return state_->model.parameters.copy(); }
std::vector<float> Network::gradients() const { return state_->model.parameters.gradient_copy(); }

void Network::set_parameters(std::span<const float> values) {
  state_->model.parameters.assign(values);
}

void Network::set_gradients(std::span<const float> values) {
  CHECK(values.size() == parameter_count(), "one value a parameter");
  const at::NoGradGuard no_gradient;
  state_->model.parameters.gradients.copy_(from_floats(values, at::kCPU));
}

std::string Network::optimizer_state() const { return state_->adam.state(); }
void Network::restore_optimizer(std::string_view bytes) {
  state_->adam.restore(bytes, state_->model.parameters);
}

bool Network::has_gpu() { return at::hasCUDA(); }

void Network::move_to(const std::string& name) {
  const at::NoGradGuard no_gradient;
  state_->device = neural::device_named(name);
  state_->model.parameters.move_to(state_->device);
  state_->adam.move_to(state_->device);
}

std::filesystem::path bundled_weights() { return home_directory() / "resources/weights/tag.bin"; }

}  // namespace strato::tag
