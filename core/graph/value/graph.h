// The op graph: what a model computes in one step, as an immutable value.
//
// Ops are stored in a topological order, so op ids ascend along every dependency; tensors are named
// values with one producer (or none: inputs, parameters, constants, optimizer state). Everything
// that planners and the simulator need about an op (work, batch behaviour) is computed once, when
// the graph is built (see graph_builder.h). Copying a Graph copies everything: share it
// through std::shared_ptr<const Graph>. Safe to read from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/digest.h"
#include "core/base/ids.h"
#include "core/base/units.h"

namespace strato {

using OpId = Id<struct OpTag>;
using TensorId = Id<struct TensorTag>;

enum class DataType : std::uint8_t { F64, F32, F16, BF16, I64, I32, I16, I8, U8, Bool };
int size_of(DataType type);  // bytes of one element
std::string_view name_of(DataType type);
bool is_floating(DataType type);
int onnx_number(DataType type);  // TensorProto.DataType: what a Cast's attribute "to" says

enum class TensorRole : std::uint8_t {
  Input,           // read from the data set each step
  Parameter,       // trained by an update op, or frozen; lives from step to step
  Constant,        // the same in every step
  OptimizerState,  // lives beside a parameter
  Activation,      // made by a forward op
  Gradient,        // made by a backward op
};

// A tensor follows the batch in one of these ways ("Batch axis" semantics: the axis is followed
// through the graph).
enum class BatchKind : std::uint8_t {
  Whole,    // does not depend on which samples are computed: the same on every shard
  Batched,  // carries the batch along `axis`: the shards' tensors concatenate
  Partial,  // was summed over the batch: the shards' tensors add up
};
struct BatchLayout {
  BatchKind kind = BatchKind::Whole;
  int axis = -1;  // of Batched only; its extent is a multiple of blocks * batch
  // A batched axis is this many runs, each with the samples outermost: 1, or the steps of a
  // sequence that was merged with the batch ([time, batch, h] -> [time * batch, h]): a shard then
  // has its samples of every run.
  std::int64_t blocks = 1;
  friend bool operator==(const BatchLayout&, const BatchLayout&) = default;
};

// Says how an op splits when its group is replicated (TAG 4.1.1).
enum class Splittability : std::uint8_t { Concat, Sum, None };
std::string_view name_of(Splittability split);

enum class Phase : std::uint8_t { Forward, Loss, Backward, Update };
std::string_view name_of(Phase phase);

enum class OpFamily : std::uint8_t {
  MatMul,
  Convolution,
  Elementwise,
  Normalization,
  Softmax,
  Reduction,
  Pooling,
  DataMovement,
  Embedding,
  Recurrent,
  Loss,
  Update,
  View,
  Other,
};
std::string_view name_of(OpFamily family);

using Shape = std::vector<std::int64_t>;

struct Tensor {
  std::string name;
  DataType type = DataType::F32;
  TensorRole role = TensorRole::Activation;
  Shape shape = {};    // all extents are known and positive (or zero)
  OpId producer = {};  // invalid for inputs, parameters, constants, state
  BatchLayout batch = {};
  std::shared_ptr<const std::string> data = {};  // a small constant's, little endian; or null
  bool frozen = false;                           // of a parameter: it is not to be trained

  std::int64_t elements() const;
  Bytes bytes() const { return Bytes(elements() * size_of(type)); }
};

using Attribute =
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>, std::vector<double>>;

// The work of an op on the whole batch. On n of N samples, flops and batch_bytes scale with n/N.
struct Work {
  double flops = 0;   // one multiply-add counts two
  Bytes batch_bytes;  // read and written once, of tensors that carry the batch
  Bytes fixed_bytes;  // read and written once, of all other tensors (parameters, weight gradients)
  int kernels = 1;    // device kernels launched: each costs a launch
};

struct Op {
  std::string name;
  std::string type;                   // ONNX operator name, or ours for gradients and updates
  std::vector<TensorId> inputs = {};  // an omitted optional input is an invalid id
  std::vector<TensorId> outputs = {};
  std::vector<std::pair<std::string, Attribute>> attributes = {};  // ascending by name
  Phase phase = Phase::Forward;
  OpId forward = {};  // of a backward or update op: the forward op it belongs to
  OpFamily family = OpFamily::Other;
  Splittability split = Splittability::None;
  bool view = false;       // no work and no memory: its output is its first input's bytes
  bool estimated = false;  // type unknown to the catalogue: shape, work, gradient are guesses
  Work work = {};

  const Attribute* attribute(std::string_view key) const;  // null when absent
  std::int64_t integer(std::string_view key, std::int64_t fallback) const;
  double real(std::string_view key, double fallback) const;
  std::string text(std::string_view key, std::string fallback) const;
  std::vector<std::int64_t> integers(std::string_view key) const;  // empty when absent
};

class Graph {
 public:
  const std::string& name() const { return name_; }
  std::int64_t batch() const { return batch_; }  // samples in one step (the global batch)

  std::size_t op_count() const { return ops_.size(); }
  std::size_t tensor_count() const { return tensors_.size(); }
  const Op& op(OpId id) const { return ops_[id]; }
  const Tensor& tensor(TensorId id) const { return tensors_[id]; }
  const IdVector<OpId, Op>& ops() const { return ops_; }
  const IdVector<TensorId, Tensor>& tensors() const { return tensors_; }

  // Each consumer once, ascending.
  std::span<const OpId> consumers(TensorId id) const {
    return {consumers_.data() + consumer_begin_[id.index()],
            consumers_.data() + consumer_begin_[id.index() + 1]};
  }
  // The op that updates this parameter, or an invalid id (frozen, or a forward-only graph).
  OpId update_of(TensorId parameter) const { return update_of_[parameter]; }
  bool is_training() const { return training_; }

  OpId find_op(std::string_view name) const;  // invalid id when there is none
  Bytes parameter_bytes() const;

  const Digest& digest() const { return digest_; }

 private:
  friend class GraphBuilder;
  Graph() = default;
  void index();  // consumers and updates: from ops_ and tensors_

  std::string name_;
  std::int64_t batch_ = 1;
  bool training_ = false;
  IdVector<OpId, Op> ops_;
  IdVector<TensorId, Tensor> tensors_;
  std::vector<std::int32_t> consumer_begin_;  // one per tensor and one more
  std::vector<OpId> consumers_;
  IdVector<TensorId, OpId> update_of_;
  std::vector<OpId> ops_by_name_;  // an open table (name_table.h)
  Digest digest_;
};

}  // namespace strato
