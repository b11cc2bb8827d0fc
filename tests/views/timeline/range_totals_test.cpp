#include "views/timeline/range_totals.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSortFilterProxyModel>
#include <random>

#include "core/sim/explain/path_pieces.h"
#include "tests/views/timeline/sample_timeline.h"
#include "views/models/explanation.h"
#include "views/timeline/range_model.h"

namespace strato {
namespace {

using test::sample;

std::shared_ptr<PathReasons> path_reasons(const Timeline& timeline) {
  auto reasons = std::make_shared<PathReasons>();
  reasons->path = path_pieces(timeline);
  for (std::vector<Gap>& own : gaps(timeline)) reasons->gaps.emplace_back(std::move(own));
  return reasons;
}

Grouping groups_of(const Graph& graph, int ops_each) {
  std::vector<std::int32_t> group_of;
  for (std::size_t o = 0; o < graph.op_count(); ++o)
    group_of.push_back(static_cast<std::int32_t>(o) / ops_each);
  return Grouping(graph, group_of, std::vector<Nanos>(graph.op_count(), Nanos(1)));
}

// Two devices, task by task.
class HandMade {
 public:
  HandMade() {
    program_->graph = test::chain_graph(2);
    program_->cluster = test::even_cluster(1, 2);
  }
  void add(TaskKind kind, std::size_t device, int time, const std::vector<ResourceId>& needs,
           const std::vector<TaskId>& after = {}, std::size_t op = 0) {
    Task task;
    task.kind = kind;
    task.op = OpId(op);
    task.device = DeviceId(device);
    task.duration = Nanos(time);
    if (is_communication(kind)) {
      task.tensor = program_->graph->op(task.op).outputs[0];
      task.bytes = Bytes(800);
    }
    if (kind == TaskKind::Transfer) task.target = DeviceId(1);
    program_->tasks.push_back(task);
    program_->resources.push_row(needs);
    program_->dependencies.push_row(after);
    program_->writes.end_row();
    program_->reads.end_row();
  }
  const Program& program() const { return *program_; }
  std::shared_ptr<const Timeline> run() const {
    return std::make_shared<const Timeline>(Simulator().simulate(program_));
  }

 private:
  std::shared_ptr<Program> program_ = std::make_shared<Program>();
};

// 10 ns of computation on each, a transfer of 8 ns that starts when the first ends, then 6 ns on
// the second that wait for it.
std::shared_ptr<const Timeline> by_hand() {
  HandMade made;
  const Program& program = made.program();
  std::vector<ResourceId> path;
  for (const LinkId link : program.cluster->path(DeviceId(0), DeviceId(1)).links)
    path.push_back(program.link(link));
  std::ranges::sort(path);
  made.add(TaskKind::Compute, 0, 10, {program.compute_stream(DeviceId(0))});
  made.add(TaskKind::Compute, 1, 14, {program.compute_stream(DeviceId(1))});
  made.add(TaskKind::Transfer, 0, 8, path, {TaskId(0)});
  made.add(TaskKind::Compute, 1, 6, {program.compute_stream(DeviceId(1))}, {TaskId(2)}, 1);
  return made.run();
}

// A row for collectives inside the row of a mesh is there with such tasks only; time in which both
// communication streams are busy counts once.
TEST(RangeTotals, ARowOfAMeshHasARowOfItsOwn) {
  const auto labels = [](const TimelineRows& rows) {
    std::vector<std::string> list;
    for (const TimelineRow& row : rows.rows)
      if (row.kind == RowKind::Communication) list.push_back(row.label);
    return list;
  };
  EXPECT_EQ(labels(make_rows(by_hand())), (std::vector<std::string>{"comm", "comm"}));
  HandMade made;
  const auto reduce = [&](Stream stream, int time) {
    const Program& program = made.program();
    made.add(TaskKind::AllReduce, 0, time,
             {program.stream(DeviceId(0), stream), program.stream(DeviceId(1), stream)});
  };
  made.add(TaskKind::Compute, 0, 5, {made.program().compute_stream(DeviceId(0))});
  reduce(Stream::Communication, 10);
  reduce(Stream::TensorCommunication, 7);
  reduce(Stream::TensorCommunication, 7);
  const auto timeline = made.run();
  EXPECT_EQ(timeline->step_time, Nanos(14));
  const TimelineRows rows = make_rows(timeline);
  EXPECT_EQ(labels(rows), (std::vector<std::string>{"comm", "tensor comm", "comm", "tensor comm"}));
  const RangeTotals sum = add_up(rows, Nanos(0), Nanos(14), {}, nullptr, nullptr);
  EXPECT_EQ(sum.communicating, 2 * 14);
  EXPECT_EQ(sum.overlap, 5);
  const DeviceTimes times = device_times(*timeline)[DeviceId(0)];
  EXPECT_EQ(times.overlapped, Nanos(5));
  EXPECT_EQ(times.communication, Nanos(9));
}

TEST(RangeTotals, AreThoseOfAnExampleByHand) {
  const auto timeline = by_hand();
  ASSERT_EQ(timeline->step_time, Nanos(24));
  const TimelineRows rows = make_rows(timeline);
  const Grouping grouping = groups_of(*timeline->program->graph, 1);
  const auto reasons = path_reasons(*timeline);
  const RangeTotals sum = add_up(rows, Nanos(0), Nanos(24), {}, reasons.get(), &grouping);
  EXPECT_EQ(sum.devices, 2u);
  EXPECT_EQ(sum.kinds[static_cast<std::size_t>(TaskKind::Compute)].time, 30);
  EXPECT_EQ(sum.kinds[static_cast<std::size_t>(TaskKind::Transfer)].time, 8);
  EXPECT_EQ(sum.computing, 30);
  EXPECT_EQ(sum.communicating, 8);
  EXPECT_EQ(sum.overlap, 0);  // the transfer is its source's, which has nothing left to compute
  EXPECT_EQ(sum.idle, 14 + 4);
  EXPECT_EQ(sum.idle_by[static_cast<std::size_t>(Reason::Transfer)], 4);
  EXPECT_EQ(sum.after_the_last, 14);
  EXPECT_EQ(sum.not_explained, 0);
  ASSERT_EQ(sum.types.size(), 1u);
  EXPECT_EQ(sum.types[0].type, "Relu");
  EXPECT_EQ(sum.types[0].time, 30);
  ASSERT_EQ(sum.groups.size(), 2u);
  EXPECT_EQ(sum.groups[0].time, 32);  // 10 + 14 and the transfer
  EXPECT_EQ(sum.groups[1].time, 6);
  ASSERT_FALSE(sum.links.empty());
  for (const auto& link : sum.links) {
    EXPECT_EQ(link.time, 8);
    EXPECT_EQ(link.bytes, 800);
  }
}

TEST(RangeTotals, CutWhatReachesBeyondTheRange) {
  const TimelineRows rows = make_rows(by_hand());
  const RangeTotals sum = add_up(rows, Nanos(12), Nanos(20), {}, nullptr, nullptr);
  EXPECT_EQ(sum.kinds[static_cast<std::size_t>(TaskKind::Compute)].time, 2 + 2);
  EXPECT_EQ(sum.kinds[static_cast<std::size_t>(TaskKind::Transfer)].time, 6);
  EXPECT_EQ(sum.links[0].bytes, 600);
  EXPECT_EQ(sum.idle, 8 + 4);
  EXPECT_EQ(sum.not_explained, 12);
  EXPECT_TRUE(sum.groups.empty());
  for (const auto& [from, to] : {std::pair(30, 40), std::pair(5, 5), std::pair(9, 3)}) {
    const RangeTotals none = add_up(rows, Nanos(from), Nanos(to), {}, nullptr, nullptr);
    EXPECT_EQ(none.slices, 0u);
    EXPECT_EQ(none.computing + none.communicating + none.idle, 0);
    EXPECT_GE(none.length().value, 0);
  }
}

TEST(RangeTotals, CountRowsOfTheMaskOnly) {
  const TimelineRows rows = make_rows(by_hand());
  RowMask second(rows.rows.size()), links(rows.rows.size());
  for (std::size_t r = 0; r < rows.rows.size(); ++r) {
    second[r] = rows.rows[r].device == DeviceId(1);
    links[r] = rows.rows[r].kind == RowKind::Link;
  }
  const RangeTotals of_second = add_up(rows, Nanos(0), Nanos(24), second, nullptr, nullptr);
  EXPECT_EQ(of_second.devices, 1u);
  EXPECT_EQ(of_second.computing, 20);
  EXPECT_EQ(of_second.communicating, 0);
  EXPECT_TRUE(of_second.links.empty());
  const RangeTotals of_links = add_up(rows, Nanos(0), Nanos(24), links, nullptr, nullptr);
  EXPECT_EQ(of_links.devices, 0u);
  EXPECT_EQ(of_links.kinds[static_cast<std::size_t>(TaskKind::Transfer)].slices,
            of_links.links.size());
}

// Against a look at every nanosecond's worth of slices, one by one.
TEST(RangeTotals, AgreeWithBruteForce) {
  std::mt19937 random(11);
  for (unsigned seed = 1; seed <= 12; ++seed) {
    const auto timeline = sample(20 + static_cast<int>(seed) * 15, seed);
    const Program& program = *timeline->program;
    const TimelineRows rows = make_rows(timeline);
    const Grouping grouping = groups_of(*program.graph, 7);
    const auto reasons = path_reasons(*timeline);
    const auto whole = static_cast<std::uint32_t>(timeline->step_time.value);
    const std::int64_t x = random() % whole, y = random() % whole;
    const Nanos begin(std::min(x, y)), end(std::max(x, y));
    const RangeTotals sum = add_up(rows, begin, end, {}, reasons.get(), &grouping);
    std::int64_t computing = 0, by_kind = 0, by_group = 0, by_type = 0, idle = 0;
    for (std::size_t t = 0; t < program.tasks.size(); ++t) {
      const TaskTimes& times = timeline->tasks[TaskId(t)];
      const std::int64_t part = std::max<std::int64_t>(
          0, (std::min(end, times.end) - std::max(begin, times.start)).value);
      if (!is_communication(program.tasks[TaskId(t)].kind)) computing += part;
    }
    for (const auto& part : sum.kinds) by_kind += part.time;
    for (const auto& part : sum.groups) by_group += part.time;
    for (const auto& part : sum.types) by_type += part.time;
    for (const std::int64_t part : sum.idle_by) idle += part;
    EXPECT_EQ(sum.computing, computing);
    EXPECT_EQ(by_type, computing);
    EXPECT_EQ(by_group, by_kind);
    EXPECT_EQ(sum.computing + sum.idle, 8 * (end - begin).value);
    EXPECT_EQ(idle + sum.after_the_last, sum.idle);
    EXPECT_EQ(sum.not_explained, 0);
    EXPECT_LE(sum.overlap, std::min(sum.computing, sum.communicating));
    std::int64_t overlap = 0, communicating = 0;
    for (std::size_t d = 0; d < 8; ++d) {
      std::vector<bool> busy(whole), sends(whole);
      for (const TimelineRow& row : rows.rows) {
        if (row.device != DeviceId(d)) continue;
        for (std::size_t i = 0; i < row.slices.size(); ++i) {
          for (std::int64_t at = std::max(begin.value, row.slices.start[i]);
               at < std::min(end.value, row.slices.end[i]); ++at)
            (row.kind == RowKind::Compute ? busy : sends)[static_cast<std::size_t>(at)] = true;
        }
      }
      for (std::size_t at = 0; at < whole; ++at) {
        overlap += busy[at] && sends[at];
        communicating += sends[at];
      }
    }
    EXPECT_EQ(sum.overlap, overlap);
    EXPECT_EQ(sum.communicating, communicating);
  }
}

TEST(RangeModel, HasAPageForEverything) {
  const auto timeline = sample(300, 3);
  const TimelineRows rows = make_rows(timeline);
  const Grouping grouping = groups_of(*timeline->program->graph, 7);
  const auto reasons = path_reasons(*timeline);
  const RangeTotals sum = add_up(rows, Nanos(0), timeline->step_time, {}, reasons.get(), &grouping);
  RangeModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  for (int page = 0; page < kRangePages; ++page) {
    model.show(sum, *timeline->program, &grouping, static_cast<RangePage>(page));
    ASSERT_GT(model.rowCount(), 0) << page;
    QSortFilterProxyModel sorted;
    sorted.setSourceModel(&model);
    sorted.setSortRole(RangeModel::SortRole);
    sorted.sort(RangeModel::Time, Qt::DescendingOrder);
    for (int r = 1; r < sorted.rowCount(); ++r) {
      const auto time = [&](int row) {
        return model.at(sorted.mapToSource(sorted.index(row, 0)).row()).time;
      };
      EXPECT_GE(time(r - 1), time(r)) << page;
    }
    for (int c = 0; c < model.columnCount(); ++c) {
      EXPECT_FALSE(model.headerData(c, Qt::Horizontal).toString().isEmpty());
      for (int r = 0; r < model.rowCount(); ++r) {
        EXPECT_FALSE(model.index(r, c).data().toString().isEmpty());
        EXPECT_TRUE(model.index(r, c).data(RangeModel::SortRole).isValid());
      }
    }
  }
  model.show(sum, *timeline->program, nullptr, RangePage::Group);
  EXPECT_EQ(model.rowCount(), 0);
  model.clear();
  EXPECT_EQ(model.rowCount(), 0);
}

}  // namespace
}  // namespace strato
