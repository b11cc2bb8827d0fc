// Columns of groups and micro-batches of the step, by hand.
#include <QComboBox>
#include <QTest>
#include <QWheelEvent>

#include "tests/views/models/fixture.h"
#include "views/inspector/group_page.h"
#include "views/inspector/inspector_view.h"
#include "views/inspector/micro_batch_field.h"
#include "views/inspector/role_field.h"
#include "views/inspector/summary_page.h"
#include "views/models/edit_preview.h"
#include "views/models/micro_batch_edits.h"
#include "views/models/strategy_edits.h"

namespace strato {
namespace {

class DecisionFields : public SessionTest {
 protected:
  DecisionFields() {
    QObject::connect(&session_, &Session::message,
                     [this](const QString& text) { messages_ << text; });
  }
  void SetUp() override {
    view_.resize(320, 800);
    view_.show();
    open_lenet();
  }
  RoleField& role(MeshRole which) { return view_.findChild<GroupPage*>()->role(which); }
  RoleField& columns() { return role(MeshRole::Tensor); }
  MicroBatchField& micro_batches() { return view_.findChild<SummaryPage*>()->micro_batches(); }
  void select(std::vector<GroupId> groups) {
    session_.selection().select_groups(std::move(groups));
    QCoreApplication::processEvents();
  }
  static QStringList items(const QComboBox& box) {
    QStringList texts;
    for (int i = 0; i < box.count(); ++i) texts << box.itemText(i);
    return texts;
  }
  static void choose(QComboBox& box, const char* words) {
    const int index = box.findText(QString::fromUtf8(words));
    ASSERT_GE(index, 0) << words;
    box.setCurrentIndex(index);
    emit box.activated(index);
  }
  const Decision& decision(std::size_t group) {
    return *session_.snapshot().strategy.groups[GroupId(group)];
  }

  QStringList messages_;
  InspectorView view_{session_};
};

TEST_F(DecisionFields, ColumnsAreOneUndoableEdit) {
  select({GroupId(0), GroupId(1)});
  QComboBox& box = columns().choice();
  EXPECT_EQ(items(box), (QStringList{"each device by itself", "2 devices together"}));
  EXPECT_EQ(box.currentIndex(), 0);
  choose(box, "2 devices together");
  session_.settle();
  EXPECT_EQ(decision(0).roles.tensor, 2);
  EXPECT_EQ(decision(1).roles.tensor, 2);
  EXPECT_EQ(decision(2).roles.tensor, 1);
  EXPECT_EQ(session_.undo_stack().count(), 1);
  EXPECT_EQ(session_.undo_stack().text(0), "2 groups: 2 devices together");
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  select({GroupId(0), GroupId(2)});
  EXPECT_EQ(box.currentIndex(), -1) << "they differ";
  session_.undo_stack().undo();
  session_.settle();
  EXPECT_EQ(decision(0).roles.tensor, 1);
}

TEST_F(DecisionFields, ColumnsAreWhereTheyMeanSomething) {
  select({GroupId(0)});
  session_.edit(with_mode(session_.snapshot().strategy, std::vector{GroupId(0)}, Mode::Duplicate),
                QStringLiteral("duplicate"));
  QCoreApplication::processEvents();
  EXPECT_FALSE(columns().isEnabled());
  EXPECT_TRUE(columns().toolTip().contains(QStringLiteral("needs AllReduce")));
  select({GroupId(1)});
  EXPECT_TRUE(columns().isEnabled());
}

TEST_F(DecisionFields, ColumnsAreForetold) {
  select({GroupId(0)});
  EditPreview& preview = view_.findChild<GroupPage*>()->preview();
  emit columns().choice().highlighted(1);
  ASSERT_TRUE(wait_until([&] { return preview.effect().has_value(); }));
  EXPECT_EQ(preview.effect()->strategy.groups[GroupId(0)]->roles.tensor, 2);
  EXPECT_EQ(session_.undo_stack().count(), 0);
}

TEST_F(DecisionFields, WidthsDivideTheDevicesOfAllGroups) {
  Strategy strategy;
  const auto on = [](std::size_t devices, std::int32_t first_weight) {
    Decision decision;
    for (std::size_t d = 0; d < devices; ++d) decision.devices.push_back({DeviceId(d), 1});
    decision.devices[0].weight = first_weight;
    return decision;
  };
  strategy.groups.push_back(on(12, 1));
  strategy.groups.push_back(on(8, 1));
  strategy.groups.push_back(on(8, 3));
  strategy.groups.push_back(std::nullopt);
  using Widths = std::vector<std::int32_t>;
  const Graph& graph = *session_.snapshot().problem->graph;
  const auto possible_columns = [&](const Strategy& of, const std::vector<GroupId>& groups) {
    return possible_numbers(of, groups, graph, MeshRole::Tensor);
  };
  const auto with_tensor = [&](std::int32_t columns) {
    return with_role(strategy, std::vector{GroupId(0)}, MeshRole::Tensor, columns)
        .groups[GroupId(0)]
        ->roles.tensor;
  };
  EXPECT_EQ(possible_columns(strategy, std::vector{GroupId(0)}), (Widths{1, 2, 3, 4, 6, 12}));
  EXPECT_EQ(possible_columns(strategy, std::vector{GroupId(0), GroupId(1), GroupId(3)}),
            (Widths{1, 2, 4}));
  EXPECT_EQ(possible_columns(strategy, std::vector{GroupId(2)}), Widths{1}) << "unequal rows";
  EXPECT_EQ(possible_columns(strategy, std::vector{GroupId(3)}), Widths{1});
  strategy.groups[GroupId(1)]->mode = Mode::ReplicatePs;
  EXPECT_EQ(possible_columns(strategy, std::vector{GroupId(1)}), Widths{1});
  EXPECT_EQ(with_tensor(5), 1);
  EXPECT_EQ(with_tensor(6), 6);
  const auto possible = [&](MeshRole role, std::size_t group) {
    return possible_numbers(strategy, std::vector{GroupId(group)}, graph, role);
  };
  EXPECT_EQ(possible(MeshRole::Expert, 0), Widths{1}) << "the model has no experts";
  EXPECT_EQ(possible(MeshRole::States, 0), (Widths{0, 1, 2, 3}));
  EXPECT_EQ(possible(MeshRole::StateRows, 0), Widths{0}) << "nothing is shared";
  strategy.groups[GroupId(0)]->roles = {.tensor = 2, .states = {.stage = 1}};
  EXPECT_EQ(possible(MeshRole::StateRows, 0), (Widths{0, 2, 3, 6}));
  EXPECT_EQ(possible(MeshRole::States, 1), Widths{0}) << "not by PS";
}

TEST_F(DecisionFields, StatesAreSharedInOneUndoableEdit) {
  select({GroupId(0), GroupId(1)});
  EXPECT_FALSE(role(MeshRole::StateRows).isVisible());
  EXPECT_FALSE(role(MeshRole::Expert).isVisible()) << "the model has no experts";
  choose(role(MeshRole::States).choice(), "in parts, as ZeRO 3");
  session_.settle();
  QCoreApplication::processEvents();
  EXPECT_EQ(decision(1).roles.states.stage, 3);
  EXPECT_EQ(decision(2).roles.states.stage, 0);
  EXPECT_EQ(session_.undo_stack().text(0), "2 groups: keep states in parts, as ZeRO 3");
  EXPECT_TRUE(role(MeshRole::StateRows).isVisible());
  const std::size_t rows = decision(0).devices.size();
  ASSERT_EQ(rows % 2, 0u);
  choose(role(MeshRole::StateRows).choice(), "2 rows");
  session_.settle();
  EXPECT_EQ(decision(0).roles.states.rows, 2);
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  session_.undo_stack().undo();
  session_.undo_stack().undo();
  session_.settle();
  EXPECT_EQ(decision(0).roles.states, StateSharding());
}

TEST_F(DecisionFields, MicroBatchesAreOneUndoableEdit) {
  select({});
  MicroBatchField& field = micro_batches();
  EXPECT_EQ(items(field.count()), (QStringList{"1", "2", "4", "8", "16"}));
  EXPECT_FALSE(field.schedule().isEnabled()) << "of one micro-batch it means nothing";
  choose(field.count(), "4");
  EXPECT_EQ(field.count().currentIndex(), 0) << "it shows what there is";
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy.micro_batches,
            (MicroBatches{4, PipelineSchedule::OneFOneB}));
  QCoreApplication::processEvents();
  EXPECT_EQ(field.count().currentIndex(), 2);
  choose(field.schedule(), "by gpipe");
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy.micro_batches, (MicroBatches{4, PipelineSchedule::Gpipe}));
  EXPECT_EQ(session_.undo_stack().count(), 2);
  EXPECT_EQ(session_.undo_stack().text(1), "micro-batches: 4 by gpipe");
  session_.undo_stack().undo();
  session_.undo_stack().undo();
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy.micro_batches, MicroBatches());
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

// A table is of its micro-batches: others are refused, in words, and nothing changes.
TEST_F(DecisionFields, MicroBatchesThatCannotBeAreRefused) {
  select({});
  Strategy strategy = session_.snapshot().strategy;
  strategy.micro_batches = by_hand(parse_schedule_rows({"0F0 0B0 0F1 0B1"}), 2);
  session_.edit(strategy, QStringLiteral("by hand"));
  session_.settle();
  QCoreApplication::processEvents();
  ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_EQ(micro_batches().schedule().currentText(), "by hand");
  messages_.clear();
  choose(micro_batches().count(), "4");
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy, strategy);
  EXPECT_EQ(session_.undo_stack().count(), 1);
  ASSERT_EQ(messages_.size(), 1);
  EXPECT_TRUE(messages_[0].contains(QStringLiteral("schedule, row 1: has no cell 0F2")))
      << messages_[0].toStdString();
  EXPECT_EQ(micro_batches().count().currentText(), "2");
  choose(micro_batches().schedule(), "by 1f1b");
  session_.settle();
  EXPECT_EQ(session_.undo_stack().count(), 2);
  EXPECT_TRUE(session_.snapshot().strategy.micro_batches.table.empty());
}

// Scrolling the inspector with the cursor on a choice changes nothing.
TEST_F(DecisionFields, TheWheelIsThePages) {
  select({});
  QComboBox& box = micro_batches().count();
  box.clearFocus();
  QWheelEvent turn(QPointF(5, 5), box.mapToGlobal(QPointF(5, 5)), {}, {0, -120}, Qt::NoButton,
                   Qt::NoModifier, Qt::NoScrollPhase, false);
  QCoreApplication::sendEvent(&box, &turn);
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy.micro_batches, MicroBatches());
  EXPECT_EQ(session_.undo_stack().count(), 0);
}

TEST_F(DecisionFields, CountsDivideTheBatch) {
  EXPECT_EQ(possible_micro_batches(12, 1), (std::vector<std::int32_t>{1, 2, 3, 4, 6, 12}));
  EXPECT_EQ(possible_micro_batches(12, 6, 2), (std::vector<std::int32_t>{1, 2, 6}));
  EXPECT_EQ(possible_micro_batches(1, 1), std::vector<std::int32_t>{1});
}

}  // namespace
}  // namespace strato
