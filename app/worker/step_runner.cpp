#include "app/worker/step_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "app/worker/clock.h"
#include "core/base/error.h"

namespace strato::worker {

StepRunner::StepRunner(const Graph& graph, const RankProgram& program,
                       std::span<const DeviceId> device_of_rank, RankExecution& execution,
                       Transport& transport)
    : graph_(graph),
      program_(program),
      execution_(execution),
      communicator_(graph, program, device_of_rank, execution, transport),
      spans_(program.instructions.size()) {
  plan_streams();
  start_threads();
}

StepRunner::~StepRunner() {
  stop();
  if (communication_thread_.joinable()) communication_thread_.join();
  for (const auto& lane : lanes_) lane->thread.join();
  // What was issued after its lane had ended.
  for (const auto& lane : lanes_) {
    for (auto& [instruction, operation] : lane->queue) finish(instruction, *operation);
  }
}

void StepRunner::plan_streams() {
  const std::size_t count = program_.instructions.size();
  place_.resize(count);
  needs_.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool computes = program_.instructions[i].stream == Stream::Compute;
    auto& stream = computes ? compute_ : communication_;
    place_[i] = static_cast<std::uint32_t>(stream.size());
    stream.push_back(i);
    for (const std::uint32_t earlier : program_.waits[i]) {
      CHECK(earlier < i, "an instruction waits for a later one");
      if (program_.instructions[earlier].stream != Stream::Compute) {
        needs_[i].communication.push_back(place_[earlier]);
      } else if (!computes) {
        needs_[i].compute = std::max(needs_[i].compute, place_[earlier] + 1);
      }
    }
  }
  done_ = std::make_unique<Progress[]>(communication_.size());
}

void StepRunner::start_threads() {
  if (communication_.empty()) return;
  for (std::size_t i = 0; i < communicator_.lane_count(); ++i) {
    lanes_.push_back(std::make_unique<Lane>());
    Lane& lane = *lanes_.back();
    lane.thread = std::thread([this, &lane] { drain(lane); });
  }
  communication_thread_ = std::thread([this] { communicate(); });
}

void StepRunner::run() {
  ++step_;
  computed_.reset();  // nobody waits for it between two steps
  started_.raise(step_);
  compute();
  for (Progress& done : std::span(done_.get(), communication_.size())) {
    if (!done.wait(step_)) break;
  }
  rethrow();
}

bool StepRunner::await(const Needs& needs) const {
  if (!computed_.wait(needs.compute)) return false;
  return std::all_of(needs.communication.begin(), needs.communication.end(),
                     [&](std::uint32_t place) { return done_[place].wait(step_); });
}

void StepRunner::compute() {
  std::uint32_t count = 0, at = 0;
  try {
    for (const std::uint32_t instruction : compute_) {
      at = instruction;
      if (!await(needs_[instruction]) || stopped_.load(std::memory_order_relaxed)) return;
      Span& span = spans_[instruction];
      running_.store(static_cast<int>(instruction), std::memory_order_relaxed);
      span.start = now_ns();
      execution_.run(instruction);
      span.end = now_ns();
      running_.store(-1, std::memory_order_relaxed);
      release(instruction);
      computed_.raise(++count);
      ended_.fetch_add(1, std::memory_order_relaxed);
    }
  } catch (...) {
    fail_at(at);
  }
}

void StepRunner::communicate() {
  try {
    for (std::uint32_t step = 1; started_.wait(step); ++step) issue_step();
  } catch (...) {
    fail(std::current_exception());
  }
}

void StepRunner::issue_step() {
  for (const std::uint32_t instruction : communication_) {
    if (!await(needs_[instruction])) return;
    spans_[instruction].start = now_ns();
    std::unique_ptr<Operation> operation;
    try {
      operation = communicator_.issue(instruction);
    } catch (...) {
      return fail_at(instruction);
    }
    Lane& lane = *lanes_[communicator_.lane(instruction)];
    {
      const std::lock_guard lock(lane.mutex);
      lane.queue.emplace_back(instruction, std::move(operation));
    }
    lane.pushed.notify_one();
  }
}

// Also after a stop: an operation must not be destroyed before it is done.
void StepRunner::drain(Lane& lane) {
  for (;;) {
    std::pair<std::uint32_t, std::unique_ptr<Operation>> next;
    {
      std::unique_lock lock(lane.mutex);
      lane.pushed.wait(lock, [&] { return stopped_ || !lane.queue.empty(); });
      if (lane.queue.empty()) return;
      next = std::move(lane.queue.front());
      lane.queue.pop_front();
    }
    finish(next.first, *next.second);
  }
}

void StepRunner::finish(std::uint32_t instruction, Operation& operation) {
  try {
    operation.finish();
    // What shares a lane goes over the wire in order: before, it waited for its turn.
    std::int64_t& lane_end = lanes_[communicator_.lane(instruction)]->ended;
    Span& span = spans_[instruction];
    span.start = std::max(span.start, lane_end);
    lane_end = span.end = now_ns();
    release(instruction);
    done_[place_[instruction]].raise(step_);
    ended_.fetch_add(1, std::memory_order_relaxed);
  } catch (...) {
    fail_at(instruction);
  }
}

void StepRunner::release(std::size_t instruction) {
  for (const ValueId value : program_.releases[instruction]) execution_.release(value);
}

Span StepRunner::step() const {
  Span step{std::numeric_limits<std::int64_t>::max(), 0};
  for (const Span& span : spans_) {
    step.start = std::min(step.start, span.start);
    step.end = std::max(step.end, span.end);
  }
  return spans_.empty() ? Span{} : step;
}

void StepRunner::fail(std::exception_ptr failure) {
  {
    const std::lock_guard lock(failure_mutex_);
    if (failure_ == nullptr) failure_ = std::move(failure);
  }
  stop();
}

// Engines name the op that their memory does not suffice for; what else takes memory does not.
void StepRunner::fail_at(std::uint32_t index) try { throw; } catch (const std::bad_alloc&) {
  const Instruction& instruction = program_.instructions[index];
  std::int64_t bytes = 0;
  for (const auto& row : {program_.reads[index], program_.writes[index]}) {
    for (const ValueId value : row) {
      if (value.valid()) bytes += graph_.tensor(program_.values[value].tensor).bytes().value;
    }
  }
  fail(std::make_exception_ptr(InputError(
      "",
      fmt::format("instruction {} ({}{})", index, name_of(instruction.kind),
                  instruction.op.valid() ? " " + graph_.op(instruction.op).name : ""),
      fmt::format("the machine's memory does not suffice for its tensors of {} bytes", bytes),
      "take a smaller batch or more devices")));
} catch (...) {
  fail(std::current_exception());
}

void StepRunner::stop() {
  stopped_ = true;
  started_.stop();
  computed_.stop();
  for (Progress& done : std::span(done_.get(), communication_.size())) done.stop();
  for (const auto& lane : lanes_) {
    const std::lock_guard lock(lane->mutex);
    lane->pushed.notify_one();
  }
}

void StepRunner::rethrow() {
  if (!stopped_) return;
  const std::lock_guard lock(failure_mutex_);
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  throw Stopped();
}

}  // namespace strato::worker
