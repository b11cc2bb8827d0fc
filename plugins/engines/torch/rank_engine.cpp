// The plugin's other entry: LibTorch computes one rank of a launched plan. The values of its
// program are tensors, and the instructions that run ops have kernels.
#include <fmt/format.h>
#include <torch/version.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/graph/build/copy_graph.h"
#include "core/plugin/api/plugin.h"
#include "core/program/value/op_parts.h"
#include "plugins/engines/torch/kernels/kernel.h"
#include "plugins/engines/torch/rank_values.h"
#include "plugins/engines/torch/values/made_elements.h"
#include "plugins/engines/torch/values/pieces.h"
#include "plugins/engines/torch/values/stored.h"

namespace strato::torch_engine {
namespace {

bool runs_op(InstructionKind kind) {
  return kind == InstructionKind::Compute || kind == InstructionKind::View ||
         kind == InstructionKind::Update;
}

class TorchRankExecution final : public RankExecution {
 public:
  TorchRankExecution(std::shared_ptr<const Graph> graph, std::shared_ptr<const RankProgram> program,
                     const EngineOptions& options)
      : graph_(std::move(graph)),
        program_(std::move(program)),
        values_(*graph_, *program_),
        threads_(options.threads),
        whole_(whole_batch(*graph_, options)),
        steps_(program_->instructions.size()) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (runs_op(program_->instructions[i].kind)) prepare(i);
    }
    allocated_before_ = allocated_bytes();
    values_.seed(whole_);
    reset_peak();
  }

  void begin_step(std::int64_t step) override {
    whole_.step = step;
    loss_.reset();
  }

  void run(std::size_t i) override {
    static thread_local int threads = 0;  // the library's setting is each thread's own
    if (std::exchange(threads, threads_) != threads_) at::set_num_threads(threads_);
    const at::NoGradGuard no_gradients;
    try {
      execute(i);
    } catch (const c10::Error& error) {
      refuse_instruction(i, reason_of(error));
    }
  }

  std::span<std::byte> memory(ValueId id) override {
    try {
      return values_.memory(id);
    } catch (const c10::Error& error) {
      refuse(fmt::format("tensor \"{}\"", values_.tensor(id).name), reason_of(error));
    }
  }
  void release(ValueId id) override { values_.release(id); }
  std::string read(ValueId id) const override { return elements_of(values_.at(id)); }
  void write(ValueId id, const std::string& elements) override { values_.write(id, elements); }
  std::optional<double> loss() const override { return loss_; }
  Bytes peak_memory() const override { return Bytes(peak_bytes() - allocated_before_); }

 private:
  // An instruction that runs an op's kernel.
  struct Step {
    Kernel kernel;
    std::vector<Part> needs;  // by read: of the value's part
    bool checked = false;
  };

  void prepare(std::size_t i) {
    const Instruction& instruction = program_->instructions[i];
    const Part& part = instruction.part;
    const OpId op = instruction.op;
    Step& step = steps_[i];
    const std::span<const ValueId> reads = program_->reads[i];
    if (const auto letters = letters_of(*graph_, op, part); !letters.empty()) {
      step.kernel = make_part_kernel(*graph_, op, part);
      step.needs = parts_read(*graph_, op, part, letters);
    } else if (part.is_slice()) {
      step.kernel = make_part_kernel(*graph_, op, part);
      step.needs = part_inputs(*graph_, op, part);
      step.needs.resize(reads.size());
    } else {
      step.kernel = make_kernel(*graph_, op);
      for (const ValueId id : reads) step.needs.push_back(need_of(id, part));
    }
    for (std::size_t r = 0; r < reads.size(); ++r) {
      if (!reads[r].valid()) continue;
      const Part& here = program_->values[reads[r]].part;
      if (here.is_partial_sum()) step.needs[r] = here;
      CHECK(holds(*graph_, program_->values[reads[r]].tensor, here, step.needs[r]),
            fmt::format("\"{}\" reads {} of \"{}\", which is {} here", graph_->op(op).name,
                        describe(step.needs[r]), values_.tensor(reads[r]).name, describe(here)));
    }
  }

  // Returns the part of a value that an op on some samples needs.
  Part need_of(ValueId id, const Part& op) const {
    if (!id.valid()) return {};
    const Value& value = program_->values[id];
    if (graph_->tensor(value.tensor).batch.kind != BatchKind::Batched) return value.part;
    const AxisRange all{kBatchAxis, 0, static_cast<std::int32_t>(graph_->batch())};
    const AxisRange* samples = op.along(kBatchAxis);
    if (samples == nullptr)
      return value.part.is_samples() && value.part.first() == all ? value.part : Part();
    return *samples == all && value.part.is_whole() ? value.part : Part().cut(*samples);
  }

  void execute(std::size_t i) {
    const InstructionKind kind = program_->instructions[i].kind;
    if (runs_op(kind)) return compute(i);
    if (kind == InstructionKind::Split) return split(i);
    if (kind == InstructionKind::Concat) return concat(i);
    CHECK(kind == InstructionKind::Sum, "an instruction of the transport");
    sum(i);
  }

  void compute(std::size_t i) {
    const Instruction& instruction = program_->instructions[i];
    Step& step = steps_[i];
    const Tensors inputs = inputs_of(i);
    Tensors outputs = step.kernel(inputs, whole_.on(instruction.part));
    const std::span<const ValueId> writes = program_->writes[i];
    if (instruction.kind == InstructionKind::Update) return;
    const bool shares = instruction.kind == InstructionKind::View;
    for (std::size_t o = 0; o < writes.size(); ++o) {
      if (!writes[o].valid()) continue;
      at::Tensor made = o < outputs.size() ? outputs[o] : at::Tensor();
      if (!step.checked) {
        check_output(graph_->op(instruction.op), values_.tensor(writes[o]),
                     values_.shape(writes[o]), made);
      }
      if (!shares && is_shared(made, inputs, outputs, o)) made = made.clone();
      values_.set(writes[o], made.contiguous());
    }
    step.checked = true;
    note_loss(writes);
  }

  // A reduction in place must not meet another value: a kernel may hand on what it got.
  static bool is_shared(const at::Tensor& made, const Tensors& inputs, const Tensors& outputs,
                        std::size_t place) {
    const auto same = [&made](const at::Tensor& other) {
      return other.defined() && other.is_alias_of(made);
    };
    const auto before = outputs.begin() + static_cast<std::ptrdiff_t>(place);
    return std::any_of(inputs.begin(), inputs.end(), same) ||
           std::any_of(outputs.begin(), before, same);
  }

  Tensors inputs_of(std::size_t i) const {
    const Step& step = steps_[i];
    const bool updates = program_->instructions[i].kind == InstructionKind::Update;
    const std::span<const ValueId> reads = program_->reads[i];
    Tensors inputs;
    inputs.reserve(reads.size());
    for (std::size_t r = 0; r < reads.size(); ++r) {
      if (!reads[r].valid()) {
        inputs.emplace_back();
        continue;
      }
      const Value& value = program_->values[reads[r]];
      const at::Tensor part =
          cut(values_.at(reads[r]), *graph_, value.tensor, value.part, step.needs[r]);
      inputs.push_back(updates ? part : part.contiguous());
    }
    return inputs;
  }

  void note_loss(std::span<const ValueId> writes) {
    for (const ValueId id : writes) {
      if (!id.valid() || !std::ranges::binary_search(program_->losses, id)) continue;
      loss_ = loss_.value_or(0) + values_.at(id).sum().to(at::kDouble).item<double>();
    }
  }

  // A copy, always: what it is cut from may be overwritten while this is still read. What is kept
  // for the next step takes the place of what was.
  void split(std::size_t i) {
    const ValueId from = program_->reads[i][0], to = program_->writes[i][0];
    const Value& made = program_->values[to];
    const at::Tensor part =
        cut(values_.at(from), *graph_, made.tensor, program_->values[from].part, made.part);
    if (made.resident) return values_.overwrite(to, part);
    values_.set(to, made.encoding == Encoding::None
                        ? part.clone(at::MemoryFormat::Contiguous)
                        : encoded(part, made.encoding, made.record_count));
  }

  // A value as `like` holds it.
  at::Tensor plain(ValueId id, ValueId like) const {
    const Encoding encoding = program_->values[id].encoding;
    if (encoding == Encoding::None) return values_.at(id);
    return decoded(values_.at(id), encoding, values_.shape(like),
                   scalar_type(values_.tensor(like).type));
  }

  void concat(std::size_t i) {
    const ValueId to = program_->writes[i][0], first = program_->reads[i][0];
    if (program_->values[first].encoding != Encoding::None)
      return values_.set(to, plain(first, to));
    std::vector<at::Tensor> parts;
    std::vector<Part> held;
    for (const ValueId id : program_->reads[i]) {
      parts.push_back(values_.at(id));
      held.push_back(program_->values[id].part);
    }
    const at::Tensor all =
        joined(parts, *graph_, program_->values[to].tensor, held, program_->values[to].part);
    CHECK(all.sizes() == at::IntArrayRef(values_.shape(to)),
          fmt::format("the pieces of \"{}\" do not make {}", values_.tensor(to).name,
                      describe(program_->values[to].part)));
    values_.set(to, all.contiguous());
  }

  void sum(std::size_t i) {
    const std::span<const ValueId> terms = program_->reads[i];
    if (program_->writes[i].empty()) {  // in place
      values_.at(terms[0]).add_(plain(terms[1], terms[0]));
      return;
    }
    const ValueId to = program_->writes[i][0];
    at::Tensor total = plain(terms[0], to);
    if (program_->values[terms[0]].encoding == Encoding::None) total = total.clone();
    for (const ValueId id : terms.subspan(1)) total.add_(plain(id, to));
    values_.set(to, std::move(total));
  }

  [[noreturn]] void refuse_instruction(std::size_t i, const std::string& reason) const {
    const Instruction& instruction = program_->instructions[i];
    if (runs_op(instruction.kind)) refuse(graph_->op(instruction.op), reason);
    const std::span<const ValueId> writes = program_->writes[i];
    const ValueId made = writes.empty() ? program_->reads[i][0] : writes[0];
    refuse(fmt::format("{} of \"{}\"", name_of(instruction.kind), values_.tensor(made).name),
           reason);
  }

  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<const RankProgram> program_;
  RankValues values_;
  int threads_;
  Shard whole_;
  std::vector<Step> steps_;  // by instruction
  std::optional<double> loss_;
  std::int64_t allocated_before_ = 0;
};

class TorchRankEngine final : public RankEngine {
 public:
  TorchRankEngine() { count_allocations(); }

  std::string software() const override { return "LibTorch " TORCH_VERSION; }

  std::unique_ptr<RankExecution> prepare(std::shared_ptr<const Graph> graph,
                                         std::shared_ptr<const RankProgram> program,
                                         const EngineOptions& options) const override {
    return prepared<TorchRankExecution>(options, std::move(graph), std::move(program));
  }
};

}  // namespace
}  // namespace strato::torch_engine

STRATOSCOPE_RANK_ENGINE([](std::string_view) {
  return std::make_unique<strato::torch_engine::TorchRankEngine>();
})
