#include "plugins/planners/learned/tag/network/network.h"

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "plugins/planners/learned/kit/network/trainable.h"
#include "plugins/planners/learned/kit/network/weights.h"
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

double total_weight(std::span<const Example> examples) {
  double sum = 0;
  for (const Example& example : examples) sum += example.weight;
  return sum;
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

}  // namespace

struct Network::State final : learned::Trainable {
  explicit State(const NetworkSize& s) : size(s), model(s, parameters) {}

  // Sum of weight * cross entropy.
  at::Tensor run_loss(std::span<const Example> run) const {
    const auto states = states_of(run);
    const Batch batch(*run[0].problem, states, size.paper, device);
    std::vector<at::Tensor> targets;
    for (const Example& example : run) {
      CHECK(example.target.size() == run[0].problem->actions(), "one target an action");
      targets.push_back(learned::tensor_of(example.target) * example.weight);
    }
    return -(at::stack(targets, 1).to(device) * model.log_probabilities(batch)).sum();
  }
  template <class Use>
  double for_each_run(std::span<const Example> examples, Use&& use) const {
    const double weight = total_weight(examples);
    if (weight <= 0) return 0;
    learned::on_one_thread();
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

  NetworkSize size;
  Model model;
};

Network::Network(std::unique_ptr<State> state) : TrainedNetwork(std::move(state)) {}
Network::State& Network::parts() { return static_cast<State&>(*trainable_); }
const Network::State& Network::parts() const { return static_cast<const State&>(*trainable_); }

Network Network::make(const NetworkSize& size, std::uint64_t seed) {
  CHECK(size.width >= 1 && size.heads >= 1 && size.width % size.heads == 0 && size.layers >= 1,
        "a width that the heads divide");
  auto state = std::make_unique<State>(size);
  const at::NoGradGuard no_gradient;
  state->model.start(seed, state->device);
  return Network(std::move(state));
}

Network Network::parse(std::string_view bytes, const std::string& file) {
  const learned::Weights weights = learned::parse_weights(bytes, "tag", file);
  Network network(std::make_unique<State>(size_from(JsonView::parse(weights.size, file))));
  network.take(weights, file);
  return network;
}

Network Network::load(const std::filesystem::path& file) {
  return parse(read_file(file), file.string());
}

learned::Weights Network::empty_weights() const { return {"tag", size_text(size()), "", {}}; }

const NetworkSize& Network::size() const { return parts().size; }

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
    const Batch batch(problem, chunk, parts().size.paper, parts().device);
    const at::Tensor rows =
        at::exp(parts().model.log_probabilities(batch)).t().contiguous().to(at::kCPU);
    for (std::size_t b = 0; b < asked.size(); ++b) {
      const float* row = rows.data_ptr<float>() + b * problem.actions();
      result.emplace_back(row, row + problem.actions());
    }
  }
  return result;
}

double Network::loss(std::span<const Example> examples) const {
  const at::NoGradGuard no_gradient;
  return parts().for_each_run(examples, [](const at::Tensor&) {});
}

double Network::backward(std::span<const Example> examples) {
  parts().parameters.gradients.zero_();
  return parts().for_each_run(examples, [](const at::Tensor& loss) { loss.backward(); });
}

void Network::step(const LearnOptions& options) { parts().step(options); }

bool Network::has_gpu() { return at::hasCUDA(); }

std::filesystem::path bundled_weights() { return home_directory() / "resources/weights/tag.bin"; }

}  // namespace strato::tag
