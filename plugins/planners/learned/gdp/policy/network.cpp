#include "plugins/planners/learned/gdp/policy/network.h"

#include <utility>

#include "core/base/at.h"
#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "plugins/planners/learned/gdp/policy/model.h"

namespace strato::gdp {
namespace {

constexpr std::pair<const char*, int NetworkSize::*> kNumbers[] = {
    {"graph-layers", &NetworkSize::graph_layers},
    {"neighbours", &NetworkSize::neighbours},
    {"graph-width", &NetworkSize::graph_width},
    {"layers", &NetworkSize::layers},
    {"width", &NetworkSize::width},
    {"heads", &NetworkSize::heads},
    {"head-width", &NetworkSize::head_width},
    {"inner", &NetworkSize::inner},
    {"segment", &NetworkSize::segment}};
constexpr std::pair<const char*, bool NetworkSize::*> kSwitches[] = {
    {"attention", &NetworkSize::attention},
    {"superposition", &NetworkSize::superposition},
    {"paper", &NetworkSize::paper},
    {"stepwise", &NetworkSize::stepwise}};

Json json_of(const NetworkSize& size) {
  Json json;
  for (const auto& [key, number] : kNumbers) json[key] = size.*number;
  for (const auto& [key, on] : kSwitches) json[key] = size.*on;
  return json;
}

NetworkSize size_from(const JsonView& json) {
  NetworkSize size;
  for (const auto& [key, number] : kNumbers)
    size.*number = static_cast<int>(json.at(key).integer(1, 4096));
  for (const auto& [key, on] : kSwitches) size.*on = json.at(key).boolean();
  return size;
}

struct RollOutTensors {
  at::Tensor choice, logarithm, weight, advantage;  // [N, T], [N, T], [N, T], [T]
};

RollOutTensors tensors_of(std::span<const RollOut> trials, const at::Device& device) {
  std::vector<at::Tensor> choices, logarithms, weights;
  std::vector<float> advantages;
  for (const RollOut& trial : trials) {
    CHECK(trial.logarithm.size() == trial.choice_of.size(), "one probability a unit");
    choices.push_back(learned::indices_of(trial.choice_of));
    logarithms.push_back(learned::view_of(trial.logarithm));
    const at::Tensor weight =
        trial.drawn.empty() ? at::ones(logarithms.back().sizes()) : learned::view_of(trial.drawn);
    weights.push_back(weight / weight.sum().clamp_min(1));
    advantages.push_back(static_cast<float>(trial.advantage));
  }
  return {at::stack(choices, 1).to(device), at::stack(logarithms, 1).to(device),
          at::stack(weights, 1).to(device), at::tensor(advantages).to(device)};
}

at::Tensor cross_entropy(const at::Tensor& logarithms, std::span<const std::int32_t> choice_of) {
  CHECK(std::ssize(choice_of) == logarithms.size(0), "one answer a unit");
  const at::Tensor answer = learned::indices_of(choice_of).unsqueeze(1).to(logarithms.device());
  return -logarithms.gather(1, answer).mean();
}

at::Tensor loss_of(const Model& model, const Answer& answer) {
  return cross_entropy(model.log_probabilities(Inputs(*answer.graph, model.device)),
                       answer.choice_of);
}

at::Tensor objective_of(const Model& model, const GraphFeatures& graph,
                        std::span<const RollOut> trials, const LearnOptions& options,
                        std::span<const std::int32_t> model_answer) {
  const at::Tensor all = model.log_probabilities(Inputs(graph, model.device));
  const RollOutTensors tried = tensors_of(trials, model.device);
  const at::Tensor ratio = at::exp(all.gather(1, tried.choice) - tried.logarithm);
  const at::Tensor near = ratio.clamp(1 - options.clip_ratio, 1 + options.clip_ratio);
  const at::Tensor gain =
      (at::minimum(ratio * tried.advantage, near * tried.advantage) * tried.weight).sum(0).mean();
  const at::Tensor entropy = -(at::exp(all) * all).sum(1).mean();
  const at::Tensor sum = gain + options.entropy * entropy;
  if (model_answer.empty() || options.imitation == 0) return sum;
  return sum - options.imitation * cross_entropy(all, model_answer);
}

}  // namespace

Network::Network(std::unique_ptr<Model> model) : TrainedNetwork(std::move(model)) {}
Model& Network::model() const { return static_cast<Model&>(*trainable_); }

Network Network::make(const NetworkSize& size, std::uint64_t seed) {
  auto model = std::make_unique<Model>(size);
  model->parameters.allocate(seed, model->device);
  return Network(std::move(model));
}

Network Network::parse(std::string_view bytes, const std::string& file) {
  const learned::Weights weights = learned::parse_weights(bytes, "gdp", file);
  Network network(std::make_unique<Model>(size_from(JsonView::parse(weights.size, file))));
  network.take(weights, file);
  return network;
}

Network Network::load(const std::filesystem::path& file) {
  return parse(read_file(file), file.string());
}

learned::Weights Network::empty_weights() const {
  return {"gdp", json_text(json_of(size())), "", {}};
}

const NetworkSize& Network::size() const { return model().size; }

Probabilities Network::probabilities(const GraphFeatures& graph) const {
  learned::on_one_thread();
  const at::NoGradGuard no_gradient;
  const at::Tensor all =
      model().log_probabilities(Inputs(graph, model().device)).to(at::kCPU).contiguous();
  return {graph.units, graph.choices, learned::floats_of(all),
          -(at::exp(all) * all).sum(1).mean().item<double>()};
}

AttentionWeights Network::attention(const GraphFeatures& graph) const {
  learned::on_one_thread();
  const at::NoGradGuard no_gradient;
  std::vector<at::Tensor> layers;
  model().log_probabilities(Inputs(graph, model().device), &layers);
  if (layers.empty()) return {};
  const at::Tensor mean = at::stack(layers).mean(0);
  AttentionWeights result{graph.units, static_cast<std::int32_t>(mean.size(1)),
                          learned::floats_of(mean)};
  result.weight.resize(2 * at(result.units) * at(result.length));  // without what fills a segment
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

double Network::improve(const GraphFeatures& graph, std::span<const RollOut> trials,
                        const LearnOptions& options, std::span<const std::int32_t> model_answer) {
  learned::on_one_thread();
  const at::Tensor objective = objective_of(model(), graph, trials, options, model_answer);
  return -model().minimise(-objective, {options.rate, 0, 1.0});
}

double Network::imitate(std::span<const Answer> answers, double rate) {
  learned::on_one_thread();
  model().parameters.gradients.zero_();
  double sum = 0;
  for (const Answer& answer : answers) {
    const at::Tensor loss = loss_of(model(), answer) / static_cast<double>(answers.size());
    loss.backward();
    sum += loss.item<double>();
  }
  model().step({rate, 1e-4, 1.0});
  return sum;
}

double Network::loss(const Answer& answer) const {
  learned::on_one_thread();
  const at::NoGradGuard no_gradient;
  return loss_of(model(), answer).item<double>();
}

std::filesystem::path bundled_weights() { return home_directory() / "resources/weights/gdp.bin"; }

}  // namespace strato::gdp
