#include "views/models/explanation.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <random>

#include "core/sim/explain/path_pieces.h"
#include "core/sim/explain/what_if.h"
#include "tests/views/models/fixture.h"
#include "views/models/vital_signs.h"
#include "views/models/what_if_model.h"

namespace strato {
namespace {

using Explains = SessionTest;

Gap gap(std::int64_t begin, std::int64_t end) {
  return {Nanos(begin), Nanos(end), Reason::Transfer, TaskId(0), TaskId(0)};
}

TEST(GapRows, FindTheLongOnesAsALookAtEachDoes) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Gap> gaps;
    std::int64_t time = 0;
    for (int i = 0; i < 60; ++i) {
      time += static_cast<std::int64_t>(random() % 50);
      const std::int64_t end = time + 1 + static_cast<std::int64_t>(random() % (1u << (i % 12)));
      gaps.push_back(gap(time, end));
      time = end;
    }
    const GapRow row(gaps);
    const auto from = static_cast<std::int64_t>(random() % static_cast<unsigned>(time));
    const std::int64_t to = from + static_cast<std::int64_t>(random() % 4000);
    const auto shortest = static_cast<std::int64_t>(random() % 300);
    std::size_t expected = 0, found = 0;
    for (const Gap& g : gaps) {
      expected += g.end.value > from && g.begin.value < to && (g.end - g.begin).value >= shortest;
    }
    row.visit_long(from, to, shortest, [&](const Gap&) { ++found; });
    EXPECT_EQ(found, expected);
    const Gap* here = row.at(from);
    EXPECT_EQ(here != nullptr, std::any_of(gaps.begin(), gaps.end(), [&](const Gap& g) {
                return g.begin.value <= from && from < g.end.value;
              }));
  }
  EXPECT_EQ(GapRow().at(0), nullptr);
}

TEST_F(Explains, ComesQuicklyFirstAndThenWithWhatIfs) {
  QSignalSpy changes(&session_, &Session::explanation_changed);
  open_lenet();
  const Explanation& explanation = *session_.snapshot().explanation;
  EXPECT_EQ(changes.count(), 1 + kWhatIfParts);
  EXPECT_TRUE(explanation.complete());
  EXPECT_FALSE(explanation.why.verdict.empty());
  EXPECT_FALSE(explanation.what_ifs.empty());
  EXPECT_TRUE(std::is_sorted(explanation.what_ifs.begin(), explanation.what_ifs.end(),
                             [](const WhatIf& a, const WhatIf& b) { return a.free < b.free; }));
  EXPECT_TRUE(vital_signs(session_.snapshot())->error);
  Nanos total;
  for (const ReasonTime& part : path_composition(explanation)) total += part.time;
  EXPECT_EQ(total, step_time());
  for (std::size_t d = 0; d < explanation.reasons->gaps.size(); ++d) {
    Nanos idle;
    for (const Gap& g : explanation.reasons->gaps[DeviceId(d)].all()) idle += g.end - g.begin;
    EXPECT_EQ(idle + explanation.timeline->devices[DeviceId(d)].compute_busy, step_time());
  }
}

TEST_F(Explains, IsOfTheOutcomeShownAndStaleOnesAreDropped) {
  open_lenet();
  bool wrong = false;
  QObject::connect(&session_, &Session::explanation_changed, [&] {
    const Snapshot& snapshot = session_.snapshot();
    wrong |= snapshot.explanation->timeline != snapshot.outcome->timeline;
  });
  QObject::connect(&session_, &Session::outcome_changed,
                   [&] { wrong |= session_.snapshot().explanation != nullptr; });
  for (int round = 0; round < 6; ++round) {
    session_.decide({GroupId(0)}, decision_on_device(DeviceId(static_cast<std::size_t>(round % 2))),
                    "move");
    wait_until([&] { return !session_.busy(); });
  }
  session_.settle();
  EXPECT_FALSE(wrong);
  ASSERT_TRUE(session_.snapshot().explanation);
  EXPECT_TRUE(session_.snapshot().explanation->complete());
}

TEST_F(Explains, ASessionMayEndWhileItExplains) {
  for (int round = 0; round < 3; ++round) {
    Session ending;
    ImportOptions import;
    import.batch = 16;
    ending.open_model(sample("models/lenet.onnx"), import, {});
    ASSERT_TRUE(wait_until([&] { return ending.snapshot().outcome != nullptr; }));
    if (round > 0) wait_until([] { return false; }, 0.02 * round);
  }
}

TEST_F(Explains, ASearchIsExplainedInFullAtItsEnd) {
  open_lenet();
  PlannerOptions options;
  options.iterations = 60;
  session_.start_search("mcts", options);
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  session_.settle();
  ASSERT_TRUE(session_.snapshot().explanation);
  EXPECT_TRUE(session_.snapshot().explanation->complete());
}

TEST_F(Explains, TheTableOfWhatIfsSelectsWhatItNames) {
  WhatIfModel model(session_);
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  EXPECT_EQ(model.rowCount(), 0);
  open_lenet();
  const auto& what_ifs = session_.snapshot().explanation->what_ifs;
  const auto worth = std::count_if(what_ifs.begin(), what_ifs.end(), [&](const WhatIf& w) {
    return static_cast<double>(w.free.value) <= 0.995 * static_cast<double>(step_time().value);
  });
  ASSERT_EQ(model.rowCount(), static_cast<int>(worth));
  ASSERT_GT(worth, 0);
  for (int row = 0; row < model.rowCount(); ++row) {
    session_.selection().clear();
    model.select(row);
    const WhatIf& chosen = what_ifs[static_cast<std::size_t>(row)];
    switch (chosen.what) {
      case WhatIf::What::Op:
        EXPECT_EQ(session_.selection().op(), chosen.op);
        break;
      case WhatIf::What::Device:
        EXPECT_EQ(session_.selection().device(), chosen.device);
        break;
      case WhatIf::What::Link:
        EXPECT_EQ(session_.selection().link(), chosen.link);
        break;
      case WhatIf::What::GpuType:
        ASSERT_TRUE(session_.selection().device());
        EXPECT_EQ(problem().cluster->device(*session_.selection().device()).type, chosen.gpu);
        break;
      case WhatIf::What::Devices:
      case WhatIf::What::Network:
      case WhatIf::What::Latency:
        EXPECT_FALSE(session_.selection().device());
    }
    EXPECT_EQ(model.index(row, WhatIfModel::Name).data().toString().toStdString(), chosen.name);
    EXPECT_EQ(model.index(row, WhatIfModel::Free).data(WhatIfModel::SortRole).toLongLong(),
              chosen.free.value);
  }
}

TEST(CostTexts, EstimatesLookDifferentFromMeasurements) {
  Estimate cost{Nanos(1'920'000), CostSource::Analytic, 0.25, {}};
  EXPECT_EQ(cost_text(cost), QStringLiteral("≈ 1.92 ms ± 25 %"));
  cost = {Nanos(1'920'000), CostSource::Profile, 0.004, "measured at 8 samples"};
  EXPECT_EQ(cost_text(cost), QStringLiteral("1.92 ms ± < 1 %"));
  EXPECT_EQ(cost_source_text(cost), QStringLiteral("measured at 8 samples"));
}

}  // namespace
}  // namespace strato
