// The base of all networks that are trained, without LibTorch in its header: their parameters as
// plain numbers, always in the same order, and their file. Processes share them, checkpoints keep
// them, tests look at them.
//
// The file of a network's weights is an archive of tensors (core/data/safetensors.h) with one
// tensor, "parameters", and in its notes the planner, the sizes, and how they were made. Files as
// versions before the archive wrote them are read, too: those of `tag` ("STRATAG") and of the other
// planners ("STRATONN"), little-endian.
//
// Errors: InputError. Not thread safe; what a network computes is safe on one that does not learn.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strato {
struct ContainerKind;
struct ReadArchive;
}  // namespace strato

namespace strato::learned {

struct Weights {
  std::string planner;  // whose they are
  std::string size;     // JSON, the network's own
  std::string note;     // JSON: how they were made; may be empty
  std::vector<float> parameters;
};

// Throws InputError for anything that is no file of weights, weights of another planner, and values
// that are not finite. `file`: its name, for messages.
Weights parse_weights(std::string_view bytes, const std::string& planner, const std::string& file);

// read_archive() whose InputErrors all name the kind's thing to a person, not its format.
ReadArchive read_strictly(std::string_view bytes, const ContainerKind& kind,
                          const std::string& file);

struct OptimizerOptions {
  double rate = 1e-3;
  double weight_decay = 1e-4;  // AdamW
  double clip = 1.0;           // most length of the gradient; 0: any
};

struct OptimizerState {
  std::int64_t steps = 0;
  std::vector<float> mean, square;  // moments of Adam, one a parameter; empty before the first step
  friend bool operator==(const OptimizerState&, const OptimizerState&) = default;
};

// A network as it stands between two steps of a training, in plain numbers: what a checkpoint and
// other processes get.
struct NetworkState {
  std::vector<float> parameters;  // in the order of declaration
  OptimizerState optimizer;
};

// Shares a step's gradients and rate where several processes learn together: it is called before
// every step, which is made with what it returns.
using ShareStep = std::function<std::pair<std::vector<float>, double>(std::vector<float>, double)>;

struct Trainable;

class TrainedNetwork {
 public:
  TrainedNetwork(TrainedNetwork&&) noexcept;
  TrainedNetwork& operator=(TrainedNetwork&&) noexcept;
  virtual ~TrainedNetwork();

  std::size_t parameter_count() const;
  std::vector<float> parameters() const;
  void set_parameters(std::span<const float> values);
  std::vector<float> gradients() const;  // of the last step

  NetworkState state() const;
  void restore(const NetworkState& state);  // throws InputError when it is of another network
  void share_steps(ShareStep share);
  // Chooses where it computes: "cpu", "cuda", "cuda:1". Throws InputError when LibTorch has no such
  // device.
  void move_to(const std::string& device);

  // JSON: how the weights were made. Empty for a fresh network.
  const std::string& note() const;
  // The content of the file of its weights; `note` is JSON. save() writes it whole or not at all.
  std::string bytes(std::string_view note) const;
  void save(const std::filesystem::path& file, std::string_view note) const;

 protected:
  explicit TrainedNetwork(std::unique_ptr<Trainable> trainable);
  // Takes over what a file holds; throws InputError when its number of weights is another one.
  // `file`: its name, for messages.
  void take(const Weights& weights, const std::string& file);
  virtual Weights empty_weights() const = 0;  // whose they are, and of which sizes

  std::unique_ptr<Trainable> trainable_;
};

}  // namespace strato::learned
