#include "plugins/planners/gdp/network.h"

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "plugins/planners/gdp/model.h"
#include "plugins/planners/neural/weights_file.h"

namespace strato::gdp {
namespace {

Json json_of(const NetworkSize& size) {
  return {{"graph-layers", size.graph_layers},
          {"neighbours", size.neighbours},
          {"graph-width", size.graph_width},
          {"layers", size.layers},
          {"width", size.width},
          {"heads", size.heads},
          {"head-width", size.head_width},
          {"inner", size.inner},
          {"segment", size.segment},
          {"attention", size.attention},
          {"superposition", size.superposition},
          {"paper", size.paper},
          {"stepwise", size.stepwise}};
}

NetworkSize size_from(const Json& json) {
  NetworkSize size;
  const auto read = [&](const char* key, int& value) {
    value = json.at(key).get<int>();
    if (value < 1 || value > 4096) throw std::out_of_range(key);
  };
  read("graph-layers", size.graph_layers);
  read("neighbours", size.neighbours);
  read("graph-width", size.graph_width);
  read("layers", size.layers);
  read("width", size.width);
  read("heads", size.heads);
  read("head-width", size.head_width);
  read("inner", size.inner);
  read("segment", size.segment);
  size.attention = json.at("attention").get<bool>();
  size.superposition = json.at("superposition").get<bool>();
  size.paper = json.at("paper").get<bool>();
  size.stepwise = json.at("stepwise").get<bool>();
  return size;
}

struct TrialTensors {
  at::Tensor choice, logarithm, weight, advantage;  // [N, T], [N, T], [N, T], [T]
};

TrialTensors tensors_of(std::span<const Trial> trials, const at::Device& device) {
  std::vector<at::Tensor> choices, logarithms, weights;
  std::vector<float> advantages;
  for (const Trial& trial : trials) {
    const auto units = static_cast<std::int64_t>(trial.choice_of.size());
    CHECK(trial.logarithm.size() == trial.choice_of.size(), "one probability a unit");
    choices.push_back(
        at::from_blob(const_cast<std::int32_t*>(trial.choice_of.data()), {units}, at::kInt)
            .to(at::kLong));
    logarithms.push_back(
        at::from_blob(const_cast<float*>(trial.logarithm.data()), {units}, at::kFloat));
    const at::Tensor weight =
        trial.drawn.empty()
            ? at::ones({units})
            : at::from_blob(const_cast<float*>(trial.drawn.data()), {units}, at::kFloat);
    weights.push_back(weight / weight.sum().clamp_min(1));
    advantages.push_back(static_cast<float>(trial.advantage));
  }
  return {at::stack(choices, 1).to(device), at::stack(logarithms, 1).to(device),
          at::stack(weights, 1).to(device), at::tensor(advantages).to(device)};
}

}  // namespace

struct Network::State {
  explicit State(const NetworkSize& s) : size(s), model(s) {}

  at::Tensor objective(const GraphFeatures& graph, std::span<const Trial> trials,
                       const LearnOptions& options,
                       std::span<const std::int32_t> model_answer) const {
    const at::Tensor all = model.log_probabilities(Inputs(graph, device));
    const TrialTensors tried = tensors_of(trials, device);
    const at::Tensor ratio = at::exp(all.gather(1, tried.choice) - tried.logarithm);
    const at::Tensor near = ratio.clamp(1 - options.clip_ratio, 1 + options.clip_ratio);
    const at::Tensor gain =
        (at::minimum(ratio * tried.advantage, near * tried.advantage) * tried.weight).sum(0).mean();
    const at::Tensor entropy = -(at::exp(all) * all).sum(1).mean();
    const at::Tensor sum = gain + options.entropy * entropy;
    if (model_answer.empty() || options.imitation == 0) return sum;
    return sum - options.imitation * cross_entropy(all, model_answer);
  }

  static at::Tensor cross_entropy(const at::Tensor& logarithms,
                                  std::span<const std::int32_t> choice_of) {
    CHECK(std::ssize(choice_of) == logarithms.size(0), "one answer a unit");
    const at::Tensor answer = at::from_blob(const_cast<std::int32_t*>(choice_of.data()),
                                            {logarithms.size(0), 1}, at::kInt)
                                  .to(at::kLong)
                                  .to(logarithms.device());
    return -logarithms.gather(1, answer).mean();
  }
  at::Tensor loss(const Answer& answer) const {
    return cross_entropy(model.log_probabilities(Inputs(*answer.graph, device)), answer.choice_of);
  }

  void step(neural::AdamOptions options) {
    if (share) {
      const auto [gradients, rate] = share(model.parameters.gradient_copy(), options.rate);
      CHECK(gradients.size() == model.parameters.size(), "one value a parameter");
      const at::NoGradGuard no_gradient;
      model.parameters.gradients.copy_(
          at::from_blob(const_cast<float*>(gradients.data()), {std::ssize(gradients)}, at::kFloat));
      options.rate = rate;
    }
    adam.step(model.parameters, options);
  }

  NetworkSize size;
  Model model;
  neural::Adam adam;
  Share share;
  at::Device device = at::kCPU;
};

Network::Network(std::unique_ptr<State> state) : state_(std::move(state)) {}
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

Network Network::make(const NetworkSize& size, std::uint64_t seed) {
  auto state = std::make_unique<State>(size);
  state->model.parameters.allocate(seed, state->device);
  return Network(std::move(state));
}

Network Network::parse(std::string_view bytes, const std::string& file) {
  const neural::WeightsFile weights = neural::parse_weights(bytes, "gdp", file);
  const auto refuse = [&](const std::string& problem) {
    return InputError(file, "", problem, "make the weights again (stratoscope-cli train gdp)");
  };
  NetworkSize size;
  try {
    size = size_from(Json::parse(weights.description).at("size"));
  } catch (const std::exception& error) {
    throw refuse(std::string("its sizes cannot be read: ") + error.what());
  }
  const std::size_t count = Model(size).parameters.size();
  if (count != weights.parameters.size())
    throw refuse("it has " + std::to_string(weights.parameters.size()) +
                 " weights where a network of its sizes has " + std::to_string(count));
  Network network = make(size, 0);
  network.set_parameters(weights.parameters);
  return network;
}

Network Network::load(const std::filesystem::path& file) {
  return parse(read_file(file), file.string());
}

const NetworkSize& Network::size() const { return state_->size; }

std::string Network::bytes(std::string_view note) const {
  const Json made = note.empty() ? Json::object() : Json::parse(note);
  const Json description{{"size", json_of(state_->size)}, {"made", made}};
  return neural::write_weights({"gdp", description.dump(), parameters()});
}

Probabilities Network::probabilities(const GraphFeatures& graph) const {
  neural::on_one_thread();
  const at::NoGradGuard no_gradient;
  const at::Tensor all =
      state_->model.log_probabilities(Inputs(graph, state_->device)).to(at::kCPU).contiguous();
  Probabilities result;
  result.units = graph.units;
  result.choices = graph.choices;
  const float* begin = all.data_ptr<float>();
  result.logarithm.assign(begin, begin + all.numel());
  result.entropy = -(at::exp(all) * all).sum(1).mean().item<double>();
  return result;
}

AttentionWeights Network::attention(const GraphFeatures& graph) const {
  neural::on_one_thread();
  const at::NoGradGuard no_gradient;
  std::vector<at::Tensor> layers;
  state_->model.log_probabilities(Inputs(graph, state_->device), &layers);
  AttentionWeights result;
  if (layers.empty()) return result;
  at::Tensor mean = layers.front();
  for (std::size_t l = 1; l < layers.size(); ++l) mean = mean + layers[l];
  mean = (mean / static_cast<double>(layers.size())).to(at::kCPU).contiguous();
  result.units = graph.units;
  result.length = static_cast<std::int32_t>(mean.size(1));
  const float* begin = mean.data_ptr<float>();
  const std::int64_t count = std::int64_t{2} * result.units * result.length;
  result.weight.assign(begin, begin + count);
  return result;
}

void AttentionWeights::add(std::int32_t unit, double factor, std::span<double> sum) const {
  CHECK(unit >= 0 && unit < units && std::ssize(sum) == units, "a unit of the graph");
  const std::int64_t columns = std::int64_t{2} * length;
  const std::int64_t begin = (std::int64_t{unit} / length - 1) * length;
  for (std::int64_t column = 0; column < columns; ++column) {
    const std::int64_t seen = begin + column;
    if (seen < 0 || seen >= units) continue;
    sum[static_cast<std::size_t>(seen)] +=
        factor * static_cast<double>(weight[static_cast<std::size_t>(unit * columns + column)]);
  }
}

double Network::improve(const GraphFeatures& graph, std::span<const Trial> trials,
                        const LearnOptions& options, std::span<const std::int32_t> model_answer) {
  neural::on_one_thread();
  state_->model.parameters.gradients.zero_();
  const at::Tensor objective = state_->objective(graph, trials, options, model_answer);
  (-objective).backward();
  state_->step({options.rate, 0, 1.0});
  return objective.item<double>();
}

double Network::objective(const GraphFeatures& graph, std::span<const Trial> trials,
                          const LearnOptions& options,
                          std::span<const std::int32_t> model_answer) const {
  neural::on_one_thread();
  const at::NoGradGuard no_gradient;
  return state_->objective(graph, trials, options, model_answer).item<double>();
}

double Network::imitate(std::span<const Answer> answers, double rate) {
  neural::on_one_thread();
  state_->model.parameters.gradients.zero_();
  double sum = 0;
  for (const Answer& answer : answers) {
    const at::Tensor loss = state_->loss(answer) / static_cast<double>(answers.size());
    loss.backward();
    sum += loss.item<double>();
  }
  state_->step({rate, 1e-4, 1.0});
  return sum;
}

void Network::share_steps(Share share) { state_->share = std::move(share); }

double Network::loss(const Answer& answer) const {
  neural::on_one_thread();
  const at::NoGradGuard no_gradient;
  return state_->loss(answer).item<double>();
}

std::size_t Network::parameter_count() const { return state_->model.parameters.size(); }
std::vector<float> Network::parameters() const { return state_->model.parameters.copy(); }
void Network::set_parameters(std::span<const float> values) {
  state_->model.parameters.assign(values);
}
std::vector<float> Network::gradients() const { return state_->model.parameters.gradient_copy(); }
std::string Network::optimizer_state() const { return state_->adam.state(); }
void Network::restore_optimizer(std::string_view bytes) {
  state_->adam.restore(bytes, state_->model.parameters);
}

void Network::move_to(const std::string& name) {
  const at::NoGradGuard no_gradient;
  state_->device = neural::device_named(name);
  state_->model.parameters.move_to(state_->device);
  state_->adam.move_to(state_->device);
}

std::filesystem::path bundled_weights() { return home_directory() / "resources/weights/gdp.bin"; }

}  // namespace strato::gdp
