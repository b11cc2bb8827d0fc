#include "app/worker/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/worker/bytes.h"
#include "app/worker/kernel_id.h"
#include "core/base/error.h"
#include "core/io/json.h"
#include "core/launch/job/job.h"
#include "core/launch/job/job_result.h"
#include "core/program/rank/rank_agreement.h"

namespace strato::worker {
namespace {

constexpr std::uint32_t kChoiceTag = 0x7fff'fff1;  // no task has it

Json to_json(const RankShares& shares) {
  Json by_name = Json::object(), order = Json::array();
  for (const auto& [name, share] : shares.by_name)
    by_name[name] = {share.ranks, share.count, share.content};
  for (const RankShares::Run& run : shares.order) order.push_back({run.share, run.count});
  return {{"by_name", std::move(by_name)}, {"order", std::move(order)}};
}

RankShares shares_from(const Json& greeting) {
  const Json& given = greeting.at("shares");
  RankShares shares;
  for (const auto& [name, share] : given.at("by_name").items())
    shares.by_name[name] = {share.at(0), share.at(1), share.at(2)};
  for (const Json& run : given.at("order")) shares.order.push_back({run.at(0), run.at(1)});
  return shares;
}

Json greeting(const RankJob& job) {
  return {{"version", STRATOSCOPE_VERSION},
          {"program", RankProgram::kVersion},
          {"digest", job.digest},
          {"boot", kernel_id()},
          {"shares", to_json(shares_of(*job.graph, job.program, job.device_of_rank))}};
}

void compare(const Json& ours, const Json& theirs, int rank) {
  const std::pair<const char*, const char*> must_agree[] = {
      {"version", "another version of stratoscope-worker"},
      {"program", "another version of rank programs"},
      {"digest", "another plan"}};
  for (const auto& [key, what] : must_agree) {
    if (theirs.value(key, Json()) == ours[key]) continue;
    throw OtherRankFailure(
        rank, fmt::format("has {}: {} instead of rank 0's {}; give all ranks the same job folder "
                          "and the same program",
                          what, theirs.value(key, Json()).dump(), ours[key].dump()));
  }
}

}  // namespace

RankSession::RankSession(const Parts& parts)
    : parts_(parts),
      job_(parts.job),
      runner_(*job_.graph, job_.program, job_.device_of_rank, parts.execution, parts.transport),
      history_(job_.program.instructions.size()) {
  if (job_.options.inputs) inputs_.emplace(parts.folder, *job_.graph, job_.program);
}

void RankSession::run() {
  agree();
  align(first_);
  load_parameters();
  barrier();
  JobEvent started;
  started.text = parts_.software;
  parts_.events.tell(started);
  for (std::int64_t step = first_step_; step <= job_.options.steps; ++step) {
    run_step(step);
    report_step(step);
    checkpoint(step);
  }
  align(last_);
  collect();
  barrier();  // nobody leaves while another still needs its connection
}

void RankSession::barrier() {
  on_transport([&] { parts_.transport.barrier(); });
}

std::vector<std::string> RankSession::gather(const std::string& text) {
  return on_transport([&] { return parts_.transport.gather(text); });
}

void RankSession::agree() {
  const Json ours = greeting(job_);
  const std::vector<std::string> all = gather(ours.dump());
  same_clock_ = !all.empty();
  std::vector<RankShares> shares;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Json theirs = Json::parse(all[rank], nullptr, false);
    if (!theirs.is_object()) throw OtherRankFailure(static_cast<int>(rank), "sends no greeting");
    compare(ours, theirs, static_cast<int>(rank));
    same_clock_ = same_clock_ && theirs.value("boot", Json()) == ours["boot"];
    try {
      shares.push_back(shares_from(theirs));
    } catch (const Json::exception&) {
      throw OtherRankFailure(static_cast<int>(rank), "does not say what it shares with the others");
    }
  }
  if (const auto found = find_disagreement(shares)) {
    throw OtherRankFailure(found->rank, found->problem +
                                            "; give all ranks the same job folder and the same "
                                            "program, on processors that calculate alike");
  }
}

void RankSession::align(std::vector<ClockReading>& readings) {
  readings = on_transport([&] { return read_clocks(parts_.transport, job_.rank, job_.ranks); });
  if (!same_clock_) return;
  for (ClockReading& reading : readings) {
    if (std::abs(reading.offset) <= reading.error) reading.offset = 0;
  }
}

CheckpointRank RankSession::checkpoint_rank() const {
  return {parts_.folder, *job_.graph, job_.program, parts_.execution, job_.rank, job_.ranks};
}

void RankSession::load_parameters() {
  if (!job_.options.resume.empty()) return resume();
  if (job_.options.weights) load_weights(checkpoint_rank());
}

void RankSession::resume() {
  const std::int64_t step = resume_checkpoint(checkpoint_rank(), job_.options.resume);
  if (step >= job_.options.steps) {
    throw InputError(
        job_.options.resume, "",
        fmt::format("was written after step {}, and {} are asked for", step, job_.options.steps),
        "ask for more steps");
  }
  first_step_ = step + 1;
}

void RankSession::run_step(std::int64_t step) {
  parts_.execution.begin_step(step);
  if (inputs_) inputs_->load(step, parts_.execution);
  barrier();
  if (parts_.guard != nullptr) {
    parts_.guard->expect_progress(
        [this] {
          return Guard::Activity{runner_.ended(), runner_.running()};
        },
        [this](int index) {
          const Instruction& what = job_.program.instructions[static_cast<std::size_t>(index)];
          return fmt::format("instruction {} ({}{})", index, name_of(what.kind),
                             what.op.valid() ? " " + job_.graph->op(what.op).name : "");
        },
        job_.options.timeout);
  }
  runner_.run();
  if (parts_.guard != nullptr) parts_.guard->expect_nothing();
  history_.add(step, runner_.spans());
}

void RankSession::report_step(std::int64_t step) {
  const auto all = gather(pack(StepReport{runner_.step(), parts_.execution.loss()}));
  if (all.empty()) return;
  std::vector<StepReport> reports;
  for (const std::string& text : all) reports.push_back(unpack_step(text));
  std::vector<ClockLine> clocks;
  for (const ClockReading& reading : first_) clocks.emplace_back(reading, reading);
  const StepSummary summary = summarise(reports, clocks);
  if (summary.loss) losses_.push_back(*summary.loss);
  reports_.push_back(std::move(reports));
  JobEvent event;
  event.kind = JobEvent::Kind::Step;
  event.step = step;
  event.step_time = summary.time;
  event.loss = summary.loss;
  parts_.events.tell(event);
}

void RankSession::checkpoint(std::int64_t step) {
  const JobOptions& options = job_.options;
  const bool last = step == options.steps && options.keep_parameters;
  const bool due = options.checkpoint_every > 0 && step % options.checkpoint_every == 0;
  if (last || due) save_checkpoint(checkpoint_rank(), step, [this] { barrier(); });
}

std::vector<ClockLine> RankSession::clock_lines() const {
  std::vector<ClockLine> lines;
  for (std::size_t rank = 0; rank < first_.size(); ++rank)
    lines.emplace_back(first_[rank], last_[rank]);
  return lines;
}

// At rank 0 the index of the measured step in reports_; every rank learns it as a step.
std::size_t RankSession::choose_step() {
  std::string oldest;
  put(oldest, history_.oldest());
  const auto all = gather(oldest);
  std::int64_t chosen = 0;
  const auto bytes = std::as_writable_bytes(std::span(&chosen, 1));
  if (job_.rank != 0) {
    on_transport([&] { parts_.transport.receive(0, kChoiceTag, bytes)->wait(); });
    return static_cast<std::size_t>(chosen - first_step_);
  }
  std::int64_t first = first_step_;
  for (const std::string& text : all)
    first = std::max(first, Taker(text, "kept steps").take<std::int64_t>());
  std::vector<Nanos> times;
  for (const auto& reports : reports_) times.push_back(summarise(reports, clock_lines()).time);
  const Typical typical =
      typical_step(times, static_cast<std::size_t>(std::max(0, job_.options.warm_up)),
                   static_cast<std::size_t>(first - first_step_));
  chosen = first_step_ + static_cast<std::int64_t>(typical.index);
  for (int rank = 1; rank < job_.ranks; ++rank)
    on_transport([&] { parts_.transport.send(rank, kChoiceTag, bytes)->wait(); });
  return typical.index;
}

void RankSession::collect() {
  const std::size_t index = choose_step();
  const auto spans = history_.of(first_step_ + static_cast<std::int64_t>(index));
  const auto all =
      gather(pack(measurement_of(job_.program, spans, parts_.execution.peak_memory())));
  if (all.empty()) return;
  const std::vector<ClockLine> clocks = clock_lines();
  JobResult result;
  for (const auto& reports : reports_) result.step_times.push_back(summarise(reports, clocks).time);
  result.step_time = typical_step(result.step_times,
                                  static_cast<std::size_t>(std::max(0, job_.options.warm_up)), 0)
                         .median;
  result.losses = losses_;
  const std::int64_t start = summarise(reports_[index], clocks).start;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    RankMeasurement measured = unpack_measurement(all[rank], static_cast<int>(rank));
    result.peaks.push_back(measured.peak);
    for (MeasuredTask& task : measured.tasks) {
      task.start = Nanos(clocks[rank].on_rank_0(task.start.value) - start);
      task.end = Nanos(clocks[rank].on_rank_0(task.end.value) - start);
      result.tasks.push_back(task);
    }
  }
  write_result(parts_.folder, result);
  JobEvent event;
  event.kind = JobEvent::Kind::Finished;
  event.step_time = result.step_time;
  parts_.events.tell(event);
}

}  // namespace strato::worker
