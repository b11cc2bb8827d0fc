#include "plugins/planners/learned/tag/network/network.h"

#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "plugins/planners/learned/tag/network/model.h"

namespace strato::tag {
namespace {

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

std::string size_text(const NetworkSize& size) {
  return json_text({{"width", size.width},
                    {"layers", size.layers},
                    {"heads", size.heads},
                    {"paper", size.paper}});
}

NetworkSize size_from(const JsonView& json) {
  NetworkSize size;
  size.width = static_cast<int>(json.at("width").integer(1, 4096));
  size.layers = static_cast<int>(json.at("layers").integer(1, 64));
  size.heads = static_cast<int>(json.at("heads").integer(1, size.width));
  size.paper = json.at("paper").boolean();
  if (size.width % size.heads != 0)
    json.at("width").fail("is no multiple of the heads", "make the weights again");
  return size;
}

// Sum of weight * cross entropy over examples of one problem.
at::Tensor run_loss(const Model& model, std::span<const Example> run) {
  const auto states = states_of(run);
  const Batch batch(*run[0].problem, states, model.size.paper, model.device);
  std::vector<at::Tensor> targets;
  for (const Example& example : run) {
    CHECK(example.target.size() == run[0].problem->actions(), "one target an action");
    targets.push_back(learned::tensor_of(example.target) * example.weight);
  }
  return -(at::stack(targets, 1).to(model.device) * model.log_probabilities(batch)).sum();
}

template <class Use>
double for_each_run(const Model& model, std::span<const Example> examples, Use&& use) {
  const double weight =
      std::accumulate(examples.begin(), examples.end(), 0.0,
                      [](double sum, const Example& example) { return sum + example.weight; });
  if (weight <= 0) return 0;
  learned::on_one_thread();
  double sum = 0;
  while (!examples.empty()) {
    const std::span<const Example> run = first_run(examples);
    const at::Tensor loss = run_loss(model, run) / weight;
    use(loss);
    sum += loss.item<double>();
    examples = examples.subspan(run.size());
  }
  return sum;
}

constexpr std::size_t kMostRemembered = 100'000;

Digest key_of(const PriorQuery& query) {
  return Hasher()
      .digest(query.partial.digest())
      .number(query.next.value())
      .number(query.score.step_time.value)
      .number(query.score.overflow.value)
      .finish();
}

}  // namespace

Network::Network(std::unique_ptr<Model> model) : TrainedNetwork(std::move(model)) {}
Model& Network::model() const { return static_cast<Model&>(*trainable_); }

Network Network::make(const NetworkSize& size, std::uint64_t seed) {
  CHECK(size.width >= 1 && size.heads >= 1 && size.width % size.heads == 0 && size.layers >= 1,
        "a width that the heads divide");
  auto model = std::make_unique<Model>(size);
  const at::NoGradGuard no_gradient;
  model->start(seed);
  return Network(std::move(model));
}

Network Network::parse(std::string_view bytes, const std::string& file) {
  const learned::Weights weights = learned::parse_weights(bytes, "tag", file);
  Network network(std::make_unique<Model>(size_from(JsonView::parse(weights.size, file))));
  network.take(weights, file);
  return network;
}

Network Network::load(const std::filesystem::path& file) {
  return parse(read_file(file), file.string());
}

learned::Weights Network::empty_weights() const { return {"tag", size_text(size()), "", {}}; }

const NetworkSize& Network::size() const { return model().size; }

// In chunks of one size, filled up with copies: then every row goes the same way through the same
// kernels, and is the same to the last bit whatever else is asked.
std::vector<std::vector<float>> Network::forward(
    const ProblemFeatures& problem, std::span<const StateFeatures* const> queries) const {
  constexpr std::size_t kChunk = 8;
  learned::on_one_thread();
  const at::NoGradGuard no_gradient;
  std::vector<std::vector<float>> result;
  for (std::size_t begin = 0; begin < queries.size(); begin += kChunk) {
    const auto asked = queries.subspan(begin, std::min(kChunk, queries.size() - begin));
    std::vector<const StateFeatures*> chunk(asked.begin(), asked.end());
    chunk.resize(kChunk, asked.back());
    const Batch batch(problem, chunk, size().paper, model().device);
    const at::Tensor rows = at::exp(model().log_probabilities(batch)).t().contiguous().to(at::kCPU);
    for (std::size_t b = 0; b < asked.size(); ++b) {
      const float* row = rows.data_ptr<float>() + b * problem.actions();
      result.emplace_back(row, row + problem.actions());
    }
  }
  return result;
}

double Network::loss(std::span<const Example> examples) const {
  const at::NoGradGuard no_gradient;
  return for_each_run(model(), examples, [](const at::Tensor&) {});
}

double Network::learn(std::span<const Example> examples, const LearnOptions& options) {
  model().parameters.gradients.zero_();
  const double before =
      for_each_run(model(), examples, [](const at::Tensor& loss) { loss.backward(); });
  model().step(options);
  return before;
}

std::filesystem::path bundled_weights() { return home_directory() / "resources/weights/tag.bin"; }

void NetworkPrior::prepare(const Problem& problem, const std::vector<Decision>& actions) {
  const Digest digest = problem.digest();
  if (maker_ != nullptr && digest == problem_ && actions == maker_->actions()) return;
  problem_ = digest;
  maker_ = std::make_unique<FeatureMaker>(problem, actions);
  known_.clear();
}

std::vector<float> NetworkPrior::mixed(const StateFeatures& state, std::vector<float> row) const {
  double legal = 0;
  for (float flag : state.legal) legal += flag;
  for (std::size_t a = 0; a < row.size(); ++a)
    row[a] = static_cast<float>((1 - mix_) * row[a] + mix_ * state.legal[a] / legal);
  return row;
}

std::vector<std::vector<float>> NetworkPrior::priors(const Problem& problem,
                                                     const std::vector<Decision>& actions,
                                                     std::span<const PriorQuery> queries) {
  prepare(problem, actions);
  if (known_.size() > kMostRemembered) known_.clear();
  std::vector<Digest> keys;
  std::vector<StateFeatures> states;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    keys.push_back(key_of(queries[i]));
    if (known_.contains(keys.back())) continue;
    states.push_back(maker_->state(queries[i]));
    asked.push_back(i);
  }
  std::vector<const StateFeatures*> pointers;
  for (const StateFeatures& state : states) pointers.push_back(&state);
  std::vector<std::vector<float>> fresh = network_.forward(*maker_->problem(), pointers);
  for (std::size_t i = 0; i < fresh.size(); ++i)
    known_.emplace(keys[asked[i]], mixed(states[i], std::move(fresh[i])));
  std::vector<std::vector<float>> rows;
  for (const Digest& key : keys) rows.push_back(known_.at(key));
  return rows;
}

}  // namespace strato::tag
