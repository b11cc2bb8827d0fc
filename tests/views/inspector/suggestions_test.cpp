// Suggestions and what the inspector's choices would do.
#include <QCheckBox>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QTest>
#include <set>

#include "core/cluster/read/cluster_reader.h"
#include "core/cluster/spec/gpu_catalogue.h"
#include "core/search/constraints/bound_constraints.h"
#include "core/search/evaluate/baselines.h"
#include "tests/paths.h"
#include "tests/views/models/fixture.h"
#include "views/inspector/group_page.h"
#include "views/inspector/inspector_view.h"
#include "views/inspector/suggestion_box.h"
#include "views/models/op_table_model.h"
#include "views/models/strategy_edits.h"

namespace strato {
namespace {

class SuggestionsInTheInspector : public SessionTest {
 protected:
  void SetUp() override {
    view_.resize(280, 700);
    view_.show();
  }
  Suggestions& suggestions() { return view_.suggestions().suggestions(); }
  bool done() { return !suggestions().looking() && suggestions().tried() > 0; }
  void badly_placed() {
    Strategy strategy = session_.snapshot().strategy;
    for (auto& decision : strategy.groups) decision->mode = Mode::ModelParallel;
    session_.edit(strategy, QStringLiteral("all model parallel"));
    session_.settle();
  }

  InspectorView view_{session_};
};

TEST_F(SuggestionsInTheInspector, AreProvedAndMade) {
  open_lenet();
  badly_placed();
  ASSERT_TRUE(wait_until([&] { return done(); }));
  ASSERT_FALSE(suggestions().list().empty());
  const Suggestion best = suggestions().list().front();
  EXPECT_EQ(best.effect.before, step_time());
  EXPECT_LT(best.effect.after, best.effect.before);
  const Problem& opened = *session_.snapshot().opened;
  EXPECT_EQ(simulate_as(opened, best.effect.strategy, {}).timeline->step_time, best.effect.after);
  for (std::size_t i = 1; i < suggestions().list().size(); ++i)
    EXPECT_GE(suggestions().list()[i].effect.after, suggestions().list()[i - 1].effect.after);
  const int edits = session_.undo_stack().count();
  for (QPushButton* button : view_.suggestions().findChildren<QPushButton*>()) {
    if (!button->isVisible()) continue;
    QTest::mouseClick(button, Qt::LeftButton);
    break;
  }
  EXPECT_TRUE(suggestions().list().empty()) << "they were about what was shown before";
  session_.settle();
  EXPECT_EQ(session_.undo_stack().count(), edits + 1);
  EXPECT_EQ(step_time(), best.effect.after);
  suggestions().apply(99);
  EXPECT_EQ(session_.undo_stack().count(), edits + 1);
}

TEST_F(SuggestionsInTheInspector, AreAboutTheGroupsSelected) {
  open_lenet();
  badly_placed();
  session_.selection().select_groups({GroupId(0)});
  ASSERT_TRUE(wait_until([&] { return done(); }));
  for (const Suggestion& suggestion : suggestions().list())
    EXPECT_EQ(suggestion.groups, std::vector{GroupId(0)});
}

TEST_F(SuggestionsInTheInspector, AreAboutTheWholeStepWhereNothingIsSelected) {
  open_lenet();
  badly_placed();
  ASSERT_TRUE(wait_until([&] { return done(); }));
  const std::size_t all = session_.snapshot().problem->grouping->size();
  ASSERT_GT(all, 1u);
  const auto& list = suggestions().list();
  const auto whole =
      std::ranges::find(list, all, [](const Suggestion& s) { return s.groups.size(); });
  ASSERT_NE(whole, list.end());
  EXPECT_TRUE(whole->words.startsWith(QStringLiteral("All groups: ")))
      << whole->words.toStdString();
  const Nanos after = whole->effect.after;
  suggestions().apply(static_cast<std::size_t>(whole - list.begin()));
  session_.settle();
  EXPECT_EQ(step_time(), after);
  EXPECT_TRUE(session_.selection().groups().empty()) << "the next one is about the whole step too";
}

TEST_F(SuggestionsInTheInspector, OnOneDeviceItIsSaidWhyThereAreNone) {
  session_.open_cluster(std::string(kSourceFolder) + "/resources/lessons/one-gpu.json");
  ImportOptions import;
  import.batch = 16;
  session_.open_model(sample("models/lenet.onnx"), import, {});
  session_.settle();
  ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_TRUE(wait_until([&] {
    return std::ranges::any_of(view_.suggestions().findChildren<QLabel*>(), [](QLabel* label) {
      return label->isVisible() && label->text().startsWith(QStringLiteral("None"));
    });
  }));
}

// Slow messages: one after the other they take longer than together.
TEST_F(SuggestionsInTheInspector, FuseGradients) {
  open_lenet();
  Strategy strategy = data_parallel(*session_.snapshot().problem);
  strategy.bucket = Bytes(0);
  session_.edit(strategy, QStringLiteral("one by one"));
  session_.settle();
  ASSERT_TRUE(wait_until([&] { return done(); }));
  for (const Suggestion& suggestion : suggestions().list()) {
    if (!suggestion.groups.empty()) continue;
    EXPECT_GT(suggestion.effect.strategy.bucket, Bytes(0));
    EXPECT_EQ(suggestion.effect.strategy.groups, strategy.groups);
    EXPECT_TRUE(suggestion.words.startsWith(QStringLiteral("Fuse gradients into buckets of ")));
    return;
  }
  FAIL() << "no buckets were suggested";
}

TEST_F(SuggestionsInTheInspector, BucketsAreOfGradientsThatAreReduced) {
  open_lenet();
  const Problem& problem = *session_.snapshot().problem;
  Strategy strategy = data_parallel(problem);
  strategy.bucket = Bytes(4 << 20);
  const std::vector<Bytes> buckets = plausible_buckets(problem, strategy);
  EXPECT_EQ(buckets.size(), 4u);
  EXPECT_EQ(std::ranges::count(buckets, strategy.bucket), 0);
  EXPECT_EQ(std::ranges::count(buckets, Bytes(0)), 1);
  for (auto& decision : strategy.groups) decision->mode = Mode::ReplicatePs;
  EXPECT_TRUE(plausible_buckets(problem, strategy).empty());
}

// Where a step does not fit, only what makes it fit is suggested: less is kept for the backward
// pass.
TEST_F(SuggestionsInTheInspector, WhatDoesNotFitIsMadeToFit) {
  open("models/bert_3l.onnx", 2048, 4);
  session_.edit(data_parallel(problem()), QStringLiteral("data parallel"));
  session_.settle();
  ASSERT_FALSE(session_.snapshot().outcome->timeline->feasible);
  ASSERT_TRUE(wait_until([&] { return done(); }));
  ASSERT_FALSE(suggestions().list().empty());
  std::size_t keeping_less = 0;
  for (const Suggestion& suggestion : suggestions().list()) {
    EXPECT_TRUE(suggestion.effect.feasible) << suggestion.words.toStdString();
    keeping_less += !suggestion.effect.strategy.recomputed.empty() ||
                    suggestion.effect.strategy.micro_batches.count > 1;
  }
  EXPECT_GT(keeping_less, 0u);
  suggestions().apply(0);
  session_.settle();
  EXPECT_TRUE(session_.snapshot().outcome->timeline->feasible);
}

// Optimizer states alone are more than both devices have: what says that it fits does.
TEST_F(SuggestionsInTheInspector, WhatIsSaidToFitDoes) {
  open("models/bert_large.onnx", 32, 60);
  session_.edit(data_parallel(problem()), QStringLiteral("data parallel"));
  session_.settle();
  ASSERT_FALSE(session_.snapshot().outcome->timeline->feasible);
  ASSERT_TRUE(wait_until([&] { return done(); }, 120));
  for (const Suggestion& suggestion : suggestions().list())
    EXPECT_TRUE(
        simulate_as(*session_.snapshot().opened, suggestion.effect.strategy, {}).timeline->feasible)
        << suggestion.words.toStdString();
  if (suggestions().list().empty()) return;
  suggestions().apply(0);
  session_.settle();
  EXPECT_TRUE(session_.snapshot().outcome->timeline->feasible);
}

TEST_F(SuggestionsInTheInspector, KeepToTheConstraints) {
  open_lenet();
  badly_placed();
  Constraints constraints;
  constraints.forbidden.push_back(parse_forbid("1080ti-0"));
  ASSERT_TRUE(session_.constrain(constraints, QStringLiteral("not there")));
  ASSERT_TRUE(wait_until([&] { return done(); }));
  const std::size_t broken =
      session_.bound_constraints()->violated(session_.snapshot().strategy).size();
  for (const Suggestion& suggestion : suggestions().list())
    EXPECT_LE(session_.bound_constraints()->violated(suggestion.effect.strategy).size(), broken);
}

TEST_F(SuggestionsInTheInspector, AreDroppedWithWhatTheyAreAbout) {
  open_lenet();
  badly_placed();
  for (int i = 0; i < 5; ++i) {
    session_.undo_stack().undo();
    session_.undo_stack().redo();
    EXPECT_TRUE(suggestions().list().empty());
  }
  session_.settle();
  ASSERT_TRUE(wait_until([&] { return done(); }));
  for (const Suggestion& suggestion : suggestions().list())
    EXPECT_EQ(suggestion.effect.before, step_time());
}

TEST_F(SuggestionsInTheInspector, AreNotWaitedForAtTheEnd) {
  open_lenet();
  badly_placed();
  bool looked = false;
  QObject::connect(&suggestions(), &Suggestions::changed,
                   [&] { looked |= suggestions().looking(); });
  ASSERT_TRUE(wait_until([&] { return looked; }));
  suggestions().disconnect();
}  // the window closes while they are looked for

TEST_F(SuggestionsInTheInspector, TheChoicesTellWhatTheyWouldDo) {
  open_lenet();
  session_.selection().select_groups({GroupId(0)});
  auto* page = view_.findChild<GroupPage*>();
  ASSERT_NE(page, nullptr);
  ASSERT_TRUE(wait_until([&] { return page->isVisible(); }));
  QCheckBox* box = page->findChildren<QCheckBox*>().first();
  QEvent enter(QEvent::Enter), leave(QEvent::Leave);
  QCoreApplication::sendEvent(box, &enter);
  ASSERT_TRUE(wait_until([&] { return page->preview().effect().has_value(); }));
  const EditEffect effect = *page->preview().effect();
  EXPECT_EQ(effect.before, step_time());
  QCoreApplication::sendEvent(box, &leave);
  EXPECT_FALSE(page->preview().effect());
  QTest::mouseClick(box, Qt::LeftButton);
  session_.settle();
  EXPECT_EQ(step_time(), effect.after);
}

// Only what splits the batch has shares.
TEST_F(SuggestionsInTheInspector, AChoiceThatCannotBeMadeTellsNothing) {
  open_lenet();
  badly_placed();
  session_.selection().select_groups({GroupId(0)});
  auto* page = view_.findChild<GroupPage*>();
  QPushButton* equal = page->findChildren<QPushButton*>().first();
  QEvent enter(QEvent::Enter);
  const auto unequal = [&](Mode mode) {
    Decision decision = *session_.snapshot().strategy.groups[GroupId(0)];
    decision.mode = mode;
    decision.devices.front().weight = 3;
    session_.decide({GroupId(0)}, decision, QStringLiteral("unequal"));
    session_.settle();
  };
  unequal(Mode::ModelParallel);
  ASSERT_TRUE(wait_until([&] { return page->isVisible() && !equal->isEnabled(); }));
  QCoreApplication::sendEvent(equal, &enter);
  EXPECT_FALSE(page->preview().asks());
  unequal(Mode::ReplicateAllReduce);
  ASSERT_TRUE(wait_until([&] { return equal->isEnabled(); }));
  QCoreApplication::sendEvent(equal, &enter);
  EXPECT_TRUE(page->preview().asks());
}

// However the table is sorted, and whether they stand beside each other or not.
TEST_F(SuggestionsInTheInspector, TheOpsSelectedAreSelectedInTheTable) {
  open_lenet();
  auto* page = view_.findChild<GroupPage*>();
  auto* table = page->findChild<QTableView*>();
  const Grouping& grouping = *session_.snapshot().problem->grouping;
  const auto& ops = grouping.groups()[GroupId(0)].ops;
  ASSERT_GE(ops.size(), 4u);
  for (const int column : {0, 1, 2}) {
    table->sortByColumn(column, Qt::AscendingOrder);
    for (unsigned bits = 1; bits < 16; ++bits) {
      std::set<OpId> wanted;
      for (std::size_t i = 0; i < 4; ++i)
        if (bits >> i & 1) wanted.insert(ops[i]);
      session_.selection().select_ops({wanted.begin(), wanted.end()}, {GroupId(0)});
      EXPECT_TRUE(wait_until([&] {
        std::set<OpId> found;
        for (const QModelIndex& row : table->selectionModel()->selectedRows())
          found.insert(OpId(row.data(OpTableModel::OpRole).toUInt()));
        return found == wanted;
      })) << column
          << ", " << bits;
    }
  }
}

TEST_F(SuggestionsInTheInspector, AreShortWords) {
  open_lenet();
  const Problem& problem = *session_.snapshot().problem;
  const std::vector<GroupId> first = {GroupId(0)};
  Decision decision = *data_parallel(problem).groups[GroupId(0)];
  ASSERT_GT(decision.devices.size(), 1u);
  EXPECT_TRUE(suggestion_words(first, decision, problem)
                  .endsWith(QStringLiteral(": AllReduce on all devices")));
  decision.devices.front().weight *= 2;
  EXPECT_TRUE(suggestion_words(first, decision, problem)
                  .endsWith(QStringLiteral(": AllReduce on all devices, shares by speed")));
  decision.mode = Mode::ModelParallel;
  EXPECT_FALSE(suggestion_words(first, decision, problem).contains(QStringLiteral("by speed")));
}

TEST(WeightyGroups, AreSomeOfEachKindAndNoneTwice) {
  EXPECT_TRUE(weighty_groups(Grouping(), 8).empty());
}

TEST(EffectText, SaysWhatChanges) {
  const Cluster cluster =
      read_cluster(sample("clusters/tag-2x1080ti.json"), GpuCatalogue::bundled());
  EditEffect effect;
  effect.before = Nanos(190'000'000);
  effect.after = Nanos(183'900'000);
  effect.device = DeviceId(0);
  effect.memory_change = Bytes(400'000'000);
  EXPECT_EQ(effect.text(cluster), QStringLiteral("−6.10 ms (−3.21 %), +400 MB on 1080ti-0:0"));
  effect.after = effect.before;
  effect.memory_change = Bytes(0);
  effect.feasible = false;
  effect.breaks_constraints = true;
  EXPECT_EQ(
      effect.text(cluster),
      QStringLiteral("no change of the step time, does not fit in memory, against a constraint"));
  effect.before = Nanos(0);
  EXPECT_EQ(effect.relative(), 0);
}

}  // namespace
}  // namespace strato
