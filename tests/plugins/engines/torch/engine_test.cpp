// The engine as a plugin: whole steps, updates, memory, bad models.
#include <map>
#include <numeric>

#include "core/graph/train/training_graph.h"
#include "tests/message_of.h"
#include "tests/plugins/engines/torch/small_model.h"
#include "tests/plugins/shipped.h"

namespace strato {
namespace {

std::shared_ptr<const Graph> sample(const std::string& name, std::int64_t batch,
                                    Optimizer optimizer) {
  return std::make_shared<const Graph>(
      make_training_graph(simplify(sample_model(name, batch), false), optimizer));
}

double loss_after_step(Execution& execution, TensorId loss) {
  execution.run_step();
  return numbers<float>(execution.read(loss)).at(0);
}

// Importer (ONNX's protobuf) and engine (LibTorch's) in one process.
TEST(TorchEngine, LearnsLeNetWithEveryOptimizer) {
  for (const Optimizer optimizer : {Optimizer::Sgd, Optimizer::Momentum, Optimizer::Adam}) {
    const auto graph = sample("lenet", 4, optimizer);
    const auto execution = prepared(graph);
    const TensorId loss = loss_of(*graph);
    execution->keep(loss);
    const double first = loss_after_step(*execution, loss);
    EXPECT_GT(first, 0.5);
    EXPECT_LT(first, 20);
    double last = loss_after_step(*execution, loss);
    if (optimizer != Optimizer::Adam) {
      EXPECT_LT(last, first);
    }
    for (int i = 0; i < 60; ++i) last = loss_after_step(*execution, loss);
    EXPECT_LT(last, 0.5 * first) << name_of(optimizer);
  }
}

TEST(TorchEngine, HasAKernelForEveryOpOfTheSamples) {
  for (const std::string name : {"lenet", "alexnet", "vgg19", "resnet101", "inception_v3",
                                 "transformer", "bert_small", "bert_large"}) {
    const auto graph = sample(name, 2, Optimizer::Adam);
    for (std::size_t i = 0; i < graph->op_count(); ++i) {
      EXPECT_TRUE(torch_engine().supports(*graph, OpId(i)))
          << name << ": " << graph->op(OpId(i)).name << " (" << graph->op(OpId(i)).type << ")";
    }
  }
}

TEST(TorchEngine, RunsAnImageModelAndALanguageModel) {
  for (const std::string name : {"inception_v3", "bert_small"}) {
    const auto graph = sample(name, 2, Optimizer::Momentum);
    const auto execution = prepared(graph);
    const TensorId loss = loss_of(*graph);
    execution->keep(loss);
    const double value = loss_after_step(*execution, loss);
    EXPECT_TRUE(std::isfinite(value)) << name;
    EXPECT_GT(value, 0) << name;
  }
}

std::shared_ptr<const Graph> line(Optimizer optimizer, std::int64_t batch = 2) {
  SmallModel model(batch);
  const TensorId x = model.tensor("x", TensorRole::Input, {batch, 3});
  model.op("MatMul", {x, model.weight({3, 4})});
  return std::move(model).training(optimizer);
}

TensorId only_update_input(const Graph& graph, std::size_t slot) {
  for (const Op& op : graph.ops()) {
    if (op.phase == Phase::Update) return op.inputs[slot];
  }
  throw std::logic_error("no update");
}

TEST(TorchEngine, UpdatesByTheTextbook) {
  constexpr double rate = 0.1;
  for (const Optimizer optimizer : {Optimizer::Sgd, Optimizer::Momentum, Optimizer::Adam}) {
    const auto graph = line(optimizer);
    const auto execution = prepared(graph, rate);
    const TensorId parameter = only_update_input(*graph, 0),
                   gradient = only_update_input(*graph, 1);
    execution->keep(gradient);
    std::vector<double> w = numbers(execution->read(parameter));
    std::vector<double> m(w.size(), 0), v(w.size(), 0);
    for (int step = 1; step <= 3; ++step) {
      execution->run_step();
      const std::vector<double> g = numbers(execution->read(gradient));
      for (std::size_t i = 0; i < w.size(); ++i) {
        if (optimizer == Optimizer::Sgd) w[i] -= rate * g[i];
        if (optimizer == Optimizer::Momentum) {
          m[i] = 0.9 * m[i] + g[i];
          w[i] -= rate * m[i];
        }
        if (optimizer != Optimizer::Adam) continue;
        m[i] = 0.9 * m[i] + 0.1 * g[i];
        v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
        w[i] -= rate * (m[i] / (1 - std::pow(0.9, step))) /
                (std::sqrt(v[i] / (1 - std::pow(0.999, step))) + 1e-8);
      }
      const std::vector<double> now = numbers(execution->read(parameter));
      for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(now[i], w[i], 1e-12) << i;
    }
  }
}

TEST(TorchEngine, TheSeedDecidesEverything) {
  const auto graph = sample("alexnet", 2, Optimizer::Sgd);  // has dropout
  const TensorId loss = loss_of(*graph);
  std::vector<double> losses;
  for (const std::uint64_t seed : {1, 1, 2}) {
    const auto execution = prepared(graph, 0.0, seed);
    execution->keep(loss);
    losses.push_back(loss_after_step(*execution, loss));
    if (losses.size() == 1) {
      EXPECT_NE(loss_after_step(*execution, loss), losses[0]);  // new masks
    }
  }
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_NE(losses[0], losses[2]);
}

TEST(TorchEngine, DropsTheGivenShareAndScalesTheRest) {
  SmallModel model;
  const TensorId w = model.weight({2, 5000});
  const TensorId y = model.op("Dropout", {w}, {{"ratio", 0.3}});
  const auto graph = std::move(model).training();
  const auto execution = prepared(graph, 0.0);
  const TensorId gradient = only_update_input(*graph, 1);
  execution->keep(y);
  execution->keep(gradient);
  execution->write(w, bytes_of(std::vector<double>(10000, 1.0)));
  execution->run_step();
  const auto out = numbers(execution->read(y)), slope = numbers(execution->read(gradient));
  const auto dropped = std::count(out.begin(), out.end(), 0.0);
  EXPECT_NEAR(static_cast<double>(dropped), 3000, 200);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 0) {
      EXPECT_EQ(slope[i], 0);
    } else {
      EXPECT_NEAR(out[i], 1 / 0.7, 1e-12);
    }
  }
}

TEST(TorchEngine, TimesAddUpToTheStep) {
  const auto graph = sample("lenet", 16, Optimizer::Adam);
  const auto execution = prepared(graph);
  std::vector<Nanos> times(graph->op_count());
  execution->run_step();
  const Nanos start = execution->now();
  execution->run_step(times);
  const auto whole = static_cast<double>((execution->now() - start).value);
  double sum = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const bool view = graph->op(OpId(i)).view;
    EXPECT_EQ(times[i].value > 0, !view) << graph->op(OpId(i)).name;
    sum += static_cast<double>(times[i].value);
  }
  EXPECT_LE(sum, whole);
  EXPECT_GT(sum, 0.8 * whole);
}

TEST(TorchEngine, FreesWhatNobodyReadsAnyMore) {
  SmallModel model;
  TensorId y = model.weight({1 << 16});
  for (int i = 0; i < 40; ++i) y = model.op("Neg", {y});  // gradients read nothing
  const auto graph = std::move(model).training();
  const auto execution = prepared(graph, 0.0);
  execution->run_step();
  const std::int64_t one = (1 << 16) * 8;
  EXPECT_GT(execution->peak_memory().value, 3 * one);  // parameter, target, an op's two
  EXPECT_LT(execution->peak_memory().value, 7 * one);
}

TEST(TorchEngine, StopsBetweenOps) {
  const auto graph = sample("lenet", 2, Optimizer::Sgd);
  const auto execution = prepared(graph);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(execution->run_step({}, stop.get_token()));
  EXPECT_TRUE(execution->run_step());
}

TEST(TorchEngine, NamesWhatItDoesNotKnow) {
  SmallModel model;
  model.op("Frobnicate", {model.weight({2, 3})}, {}, {2, 3});
  const auto graph = std::move(model).training();
  EXPECT_FALSE(torch_engine().supports(*graph, OpId(0)));
  const std::string message = message_of([&] { prepared(graph); });
  EXPECT_NE(message.find("Frobnicate"), std::string::npos) << message;

  EngineOptions options;
  options.device = "tpu:0";
  EXPECT_NE(message_of([&] {
              torch_engine().prepare(line(Optimizer::Sgd), options);
            }).find("there is no device \"tpu:0\""),
            std::string::npos);
}

TEST(TorchEngine, RefusesWhatTheLibraryCannotRun) {
  SmallModel model;  // a graph whose shapes do not fit its op
  model.op("Add", {model.weight({2, 3}), model.weight({2, 4})}, {}, {2, 4});
  const auto graph = std::move(model).training();
  const auto execution = prepared(graph);
  const std::string message = message_of([&] { execution->run_step(); });
  EXPECT_NE(message.find("Add0"), std::string::npos) << message;
  EXPECT_NE(message_of([&] {
              prepared(line(Optimizer::Sgd))->write(TensorId(0), "short");
            }).find("bytes instead of"),
            std::string::npos);
}

TEST(TorchEngine, DevicesAndLibraryHaveNames) {
  const auto devices = torch_engine().devices();
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(devices[0].name, "cpu");
  EXPECT_FALSE(devices[0].hardware.empty());
  EXPECT_GT(devices[0].memory.value, 1 << 28);
  EXPECT_NE(torch_engine().software().find("LibTorch"), std::string::npos);
}

// Parameters with values of one seed; what is asked for, then their gradients, after a step.
std::vector<std::vector<double>> computed(SmallModel model, const std::vector<TensorId>& parameters,
                                          std::vector<TensorId> asked) {
  const auto graph = std::move(model).training();
  std::map<TensorId, TensorId> gradients;  // updates are in no order
  for (const Op& op : graph->ops())
    if (op.phase == Phase::Update) gradients.emplace(op.inputs[0], op.inputs[1]);
  for (const TensorId id : parameters) asked.push_back(gradients.at(id));
  const auto execution = prepared(graph, 0.0);
  for (const TensorId id : asked) execution->keep(id);
  Random random(3);
  for (const TensorId id : parameters) {
    std::vector<double> values(static_cast<std::size_t>(graph->tensor(id).elements()));
    for (double& value : values) value = random.uniform(-1, 1);
    execution->write(id, bytes_of(values));
  }
  execution->run_step();
  std::vector<std::vector<double>> read;
  for (const TensorId id : asked) read.push_back(numbers(execution->read(id)));
  return read;
}

void expect_alike(const std::vector<std::vector<double>>& a,
                  const std::vector<std::vector<double>>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t t = 0; t < a.size(); ++t) {
    ASSERT_EQ(a[t].size(), b[t].size());
    for (std::size_t i = 0; i < a[t].size(); ++i)
      EXPECT_NEAR(a[t][i], b[t][i], 1e-12) << t << ", " << i;
  }
}

// Beside products, a mask and a softmax: two queries' heads share one of keys and values, and none
// looks ahead. The result, and the gradients of all three.
TEST(TorchEngine, AttentionIsWhatItIsMadeOf) {
  constexpr std::int64_t kOne = 1;
  const auto with = [=](bool fused) {
    SmallModel m;
    const TensorId q = m.weight({2, 4, 3, 2}), k = m.weight({2, 2, 3, 2}),
                   v = m.weight({2, 2, 3, 2});
    TensorId y;
    if (fused) {
      y = m.op("Attention", {q, k, v}, {{"is_causal", kOne}});
    } else {
      const auto number = [&m](const char* name, double value) {
        const TensorId id = m.tensor(name, TensorRole::Constant, {1});
        m.builder.tensor(id).data =
            std::make_shared<const std::string>(bytes_of(std::vector<double>{value}));
        return id;
      };
      const TensorId owners = m.integers({0, 0, 1, 1});
      const auto shared = [&](TensorId of) {
        return m.op("Gather", {of, owners}, {{"axis", kOne}});
      };
      const TensorId turned = m.op("Transpose", {shared(k)}, {{"perm", Ints{0, 1, 3, 2}}});
      const TensorId scores =
          m.op("Mul", {m.op("MatMul", {q, turned}), number("scale", 1 / std::sqrt(2.0))});
      const TensorId seen =
          m.op("Cast", {m.integers({1, 0, 0, 1, 1, 0, 1, 1, 1}, {3, 3})}, {{"to", 9 * kOne}});
      const TensorId masked = m.op("Where", {seen, scores, number("never", -1e30)});
      y = m.op("MatMul", {m.op("Softmax", {masked}), shared(v)});
    }
    // With labels of its own: those that a training graph adds differ from graph to graph.
    m.op("SoftmaxCrossEntropyLoss", {m.op("Flatten", {y}), m.integers({7, 4})});
    return computed(std::move(m), {q, k, v}, {y});
  };
  const auto fused = with(true), made = with(false);
  EXPECT_EQ(fused.size(), 4U);
  expect_alike(fused, made);
}

// A cross entropy in blocks of classes is the cross entropy, and its gradient.
TEST(TorchEngine, ClassesInBlocksAreTheSameLoss) {
  const auto with = [&](bool blocks) {
    SmallModel m;
    const TensorId w = m.weight({2, 3, 12}), labels = m.integers({1, 11, 0, 2, 7, 3}, {2, 3});
    if (blocks) {
      const auto sums = m.ops("BlockLogSumExp", {w, labels}, {{"blocks", std::int64_t{4}}}, {}, 2);
      const TensorId loss = m.op("BlockCrossEntropy", {sums[0], sums[1], labels});
      return computed(std::move(m), {w}, {loss});
    }
    const TensorId loss = m.op("SoftmaxCrossEntropyLoss", {w, labels}, {{"axis", std::int64_t{2}}});
    return computed(std::move(m), {w}, {loss});
  };
  const auto in_blocks = with(true), at_once = with(false);
  EXPECT_EQ(in_blocks.size(), 2U);
  expect_alike(in_blocks, at_once);
}

// A quarter turn: of the two halves of a head, or of neighbours.
TEST(TorchEngine, RotationTurnsHalvesOrNeighbours) {
  for (const std::int64_t interleaved : {0, 1}) {
    SmallModel m(1);
    const auto table = [&m](const char* name, double value) {
      const TensorId id = m.tensor(name, TensorRole::Constant, {1, 1, 2});
      m.builder.tensor(id).data =
          std::make_shared<const std::string>(bytes_of(std::vector<double>(2, value)));
      return id;
    };
    const TensorId x = m.weight({1, 1, 1, 4});
    const TensorId y = m.op("RotaryEmbedding", {x, table("cos", 0), table("sin", 1)},
                            {{"interleaved", interleaved}});
    const auto read = computed(std::move(m), {x}, {x, y});
    const std::vector<double>& a = read[0];
    EXPECT_EQ(read[1], interleaved != 0 ? (std::vector<double>{-a[1], a[0], -a[3], a[2]})
                                        : (std::vector<double>{-a[2], -a[3], a[0], a[1]}));
  }
}

}  // namespace
}  // namespace strato
