// A person changes how variables are synchronised, through real events, and takes it back.
#include "views/inspector/variables_view.h"

#include <gtest/gtest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QItemSelectionModel>
#include <QLineEdit>
#include <QMenu>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QTableView>
#include <QTest>
#include <QToolButton>

#include "core/search/evaluate/baselines.h"
#include "tests/views/models/fixture.h"
#include "views/inspector/device_field.h"
#include "views/inspector/group_page.h"
#include "views/inspector/inspector_view.h"
#include "views/inspector/part_list.h"
#include "views/inspector/ring_field.h"
#include "views/inspector/sync_form.h"
#include "views/models/edit_preview.h"

namespace strato {
namespace {

class VariablesViews : public SessionTest {
 protected:
  const std::vector<VariableSync>& variables() { return session_.snapshot().strategy.variables; }

  static void choose(QComboBox& box, int index) {  // with the keyboard
    box.setFocus();
    QTest::keyClick(&box, Qt::Key_Home);
    while (box.currentIndex() < index) {
      const int before = box.currentIndex();
      QTest::keyClick(&box, Qt::Key_Down);
      ASSERT_NE(box.currentIndex(), before);
    }
  }
  static void type(QSpinBox& box, const QString& text) {
    box.selectAll();
    QTest::keyClicks(&box, text);
    QTest::keyClick(&box, Qt::Key_Return);
  }
  static void click_row(QTableView& table, int row, Qt::KeyboardModifiers keys = {}) {
    QTest::mouseClick(table.viewport(), Qt::LeftButton, keys,
                      table.visualRect(table.model()->index(row, 0)).center());
  }
};

TEST_F(VariablesViews, AVariableIsEditedByHandAndTakenBack) {
  VariablesView view(session_);
  view.resize(1000, 420);
  view.show();
  open_lenet();
  ASSERT_GT(view.model().rowCount(), 2);
  EXPECT_FALSE(view.form().synchroniser().isEnabled());
  click_row(view.table(), 0);
  ASSERT_TRUE(view.form().synchroniser().isEnabled());
  EXPECT_EQ(view.form().synchroniser().currentIndex(), 0);
  const Nanos before = step_time();

  choose(view.form().synchroniser(), 2);
  ASSERT_EQ(variables().size(), 1u);
  EXPECT_EQ(variables()[0].parts[0].synchroniser, Synchroniser::Ps);
  type(view.form().parts(), "2");
  ASSERT_EQ(variables()[0].parts.size(), 2u);
  EXPECT_NE(variables()[0].parts[0].server, variables()[0].parts[1].server);
  type(view.form().axis(), "1");
  EXPECT_EQ(variables()[0].axis, 1);
  const auto partition = [&](const QString& typed) {
    view.form().partition().selectAll();
    QTest::keyClicks(&view.form().partition(), typed);
    QTest::keyClick(&view.form().partition(), Qt::Key_Return);
  };
  partition("2x2");
  EXPECT_EQ(variables()[0].partition, (std::vector<std::int32_t>{2, 2}));
  EXPECT_EQ(variables()[0].parts.size(), 4u);
  EXPECT_EQ(view.form().parts().value(), 4);
  partition("2 by 2");
  EXPECT_TRUE(view.form().refusal().contains("no partition"));
  EXPECT_EQ(variables()[0].parts.size(), 4u);
  partition("1 x 2");
  EXPECT_TRUE(variables()[0].partition.empty());
  EXPECT_EQ(variables()[0].axis, 1);
  choose(view.form().encoding(), 2);
  EXPECT_EQ(variables()[0].parts[1].encoding, Encoding::Half);
  QMenu* servers = view.form().servers().menu();
  ASSERT_EQ(servers->actions().size(), 2 + 2);  // balanced, a line, two devices
  servers->actions()[2]->trigger();             // not the first any more
  EXPECT_EQ(variables()[0].parts[0].server, variables()[0].parts[1].server);
  session_.settle();
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  const QModelIndex words = view.table().model()->index(0, VariableModel::Synchronised);
  EXPECT_TRUE(words.data().toString().contains("2 parts along axis 1"))
      << words.data().toString().toStdString();
  while (session_.undo_stack().canUndo()) session_.undo_stack().undo();
  session_.settle();
  EXPECT_TRUE(variables().empty());
  EXPECT_EQ(step_time(), before);
  EXPECT_EQ(view.form().synchroniser().currentIndex(), 0);
}

TEST_F(VariablesViews, ThePartsOfAVariableAreEditedOneByOne) {
  VariablesView view(session_);
  view.resize(1000, 700);
  view.show();
  open_lenet();
  click_row(view.table(), 0);
  SyncForm& form = view.form();
  EXPECT_FALSE(form.part_list().isVisible());
  type(form.parts(), "3");
  ASSERT_TRUE(form.part_list().isVisible());
  ASSERT_EQ(form.part_list().count(), 3);
  const auto click_part = [&](int part, Qt::KeyboardModifiers keys = {}) {
    QTest::mouseClick(form.part_list().viewport(), Qt::LeftButton, keys,
                      form.part_list().visualItemRect(form.part_list().item(part)).center());
  };
  click_part(1);
  ASSERT_EQ(form.part_list().only(), std::vector<int>{1});
  choose(form.synchroniser(), 2);
  ASSERT_EQ(variables()[0].parts.size(), 3u);
  EXPECT_EQ(variables()[0].parts[0].synchroniser, Synchroniser::AllReduce);
  EXPECT_EQ(variables()[0].parts[1].synchroniser, Synchroniser::Ps);
  EXPECT_EQ(form.part_list().only(), std::vector<int>{1});  // still
  EXPECT_TRUE(form.part_list().item(1)->text().contains("PS on"));
  click_part(0);
  click_part(2, Qt::ControlModifier);
  choose(form.encoding(), 2);
  EXPECT_EQ(variables()[0].parts[0].encoding, Encoding::Half);
  EXPECT_EQ(variables()[0].parts[1].encoding, Encoding::None);
  EXPECT_EQ(variables()[0].parts[2].encoding, Encoding::Half);
  QTest::keyClick(&form.part_list(), Qt::Key_Escape);
  EXPECT_TRUE(form.part_list().only().empty());
  EXPECT_EQ(form.encoding().currentIndex(), -1);  // they differ
  EXPECT_EQ(session_.undo_stack().count(), 3);    // one step each
  session_.settle();
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(VariablesViews, TheRingIsOrderedByHand) {
  VariablesView view(session_);
  view.resize(1000, 700);
  view.show();
  open_lenet();
  click_row(view.table(), 0);
  RingField& ring = view.form().ring();
  EXPECT_FALSE(ring.order().isVisible());
  choose(ring.choice(), 1);
  ASSERT_EQ(variables().size(), 1u);
  EXPECT_EQ(variables()[0].parts[0].sequence, (std::vector<DeviceId>{DeviceId(0), DeviceId(1)}));
  ASSERT_TRUE(ring.order().isVisible());
  EXPECT_FALSE(ring.up().isEnabled());
  QTest::mouseClick(&ring.down(), Qt::LeftButton);
  EXPECT_EQ(variables()[0].parts[0].sequence, (std::vector<DeviceId>{DeviceId(1), DeviceId(0)}));
  EXPECT_EQ(ring.order().currentRow(), 1);  // goes along
  QTest::keyClick(&ring.order(), Qt::Key_Up, Qt::AltModifier);
  EXPECT_EQ(variables()[0].parts[0].sequence, (std::vector<DeviceId>{DeviceId(0), DeviceId(1)}));
  QTest::keyClick(&ring.order(), Qt::Key_Up, Qt::AltModifier);  // is the first
  EXPECT_EQ(session_.undo_stack().count(), 3);
  choose(ring.choice(), 0);
  EXPECT_TRUE(variables()[0].parts[0].sequence.empty());
  EXPECT_FALSE(ring.order().isVisible());
  choose(view.form().synchroniser(), 2);
  EXPECT_FALSE(ring.isEnabled());
}

TEST_F(VariablesViews, WhatCannotBeIsSaidAndNotDone) {
  VariablesView view(session_);
  view.resize(1000, 700);
  view.show();
  open_lenet();
  click_row(view.table(), 0);
  SyncForm& form = view.form();
  auto* items = qobject_cast<QStandardItemModel*>(form.encoding().model());
  ASSERT_TRUE(items);
  const int sparse = static_cast<int>(Encoding::SparseRows);
  EXPECT_FALSE(items->item(sparse)->isEnabled());
  EXPECT_FALSE(items->item(sparse)->toolTip().isEmpty());
  EXPECT_TRUE(items->item(static_cast<int>(Encoding::Half))->isEnabled());
  EXPECT_FALSE(form.staleness().isEnabled());  // is all-reduced
  type(form.parts(), "4000");
  EXPECT_TRUE(form.refusal().contains("4000 parts")) << form.refusal().toStdString();
  choose(form.synchroniser(), 2);
  EXPECT_TRUE(form.refusal().isEmpty());
  ASSERT_TRUE(form.staleness().isEnabled());
  type(form.staleness(), "2");
  EXPECT_EQ(variables()[0].staleness, 2);
  EXPECT_TRUE(form.refusal().isEmpty());
  session_.settle();
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(VariablesViews, TheEffectIsForetoldBeforeTheEdit) {
  VariablesView view(session_);
  view.resize(1000, 700);
  view.show();
  open_lenet();
  click_row(view.table(), 0);
  SyncForm& form = view.form();
  const int half = static_cast<int>(Encoding::Half);
  emit form.encoding().highlighted(half);
  ASSERT_TRUE(wait_until([&] { return form.preview().effect().has_value(); }));
  EXPECT_FALSE(form.effect_text().isEmpty());
  EXPECT_TRUE(variables().empty());
  const Nanos foretold = form.preview().effect()->after;
  choose(form.encoding(), half);
  session_.settle();
  EXPECT_EQ(step_time(), foretold);
  EXPECT_TRUE(form.effect_text().isEmpty());
  form.parts().setFocus();
  form.parts().selectAll();
  QTest::keyClicks(&form.parts(), "3999");  // typed, and not yet taken
  EXPECT_TRUE(form.effect_text().contains("3999 parts")) << form.effect_text().toStdString();
}

TEST_F(VariablesViews, WhatIsTypedStaysWhileTheStrategyChanges) {
  VariablesView view(session_);
  view.resize(1000, 700);
  view.show();
  open_lenet();
  click_row(view.table(), 0);
  QLineEdit& partition = view.form().partition();
  const QString before = partition.text();
  partition.setFocus();
  partition.selectAll();
  QTest::keyClicks(&partition, "2 x");
  session_.decide({GroupId(0)}, decision_on_device(DeviceId(1)), "meanwhile");
  session_.settle();
  EXPECT_EQ(partition.text(), "2 x");
  QTest::keyClicks(&partition, " 1");
  EXPECT_EQ(partition.text(), "2 x 1");
  click_row(view.table(), 1);  // what was typed was for another one
  EXPECT_NE(partition.text(), "2 x 1");
}

TEST_F(VariablesViews, MorePartsThanThereCanBeAreNotForetoldAsFewer) {
  VariablesView view(session_);
  view.resize(1000, 700);
  view.show();
  open_lenet();
  click_row(view.table(), 0);
  SyncForm& form = view.form();
  form.partition().setFocus();
  form.partition().selectAll();
  QTest::keyClicks(&form.partition(), "1 x 100 x 100");
  EXPECT_TRUE(form.effect_text().contains("more than 4096 parts"))
      << form.effect_text().toStdString();
}

TEST_F(VariablesViews, SeveralAreEditedAtOnceAndDifferencesAreSaid) {
  VariablesView view(session_);
  view.resize(1000, 420);
  view.show();
  open_lenet();
  click_row(view.table(), 0);
  choose(view.form().synchroniser(), 1);
  type(view.form().merge_group(), "3");
  click_row(view.table(), 2, Qt::ControlModifier);
  EXPECT_EQ(view.form().synchroniser().currentIndex(), -1);  // one as its group
  EXPECT_EQ(view.form().merge_group().text(), "differs");
  type(view.form().merge_group(), "4");
  ASSERT_EQ(variables().size(), 2u);
  for (const VariableSync& variable : variables()) EXPECT_EQ(variable.parts[0].merge_group, 4);
  EXPECT_EQ(view.form().synchroniser().currentIndex(), 1);
  choose(view.form().synchroniser(), 0);
  EXPECT_TRUE(variables().empty());
}

TEST_F(VariablesViews, TheFilterAndTheSelectionNarrowTheTable) {
  VariablesView view(session_);
  view.resize(1000, 420);
  view.show();
  open_lenet();
  const int all = view.table().model()->rowCount();
  QTest::keyClicks(&view.filter(), "bias");
  EXPECT_LT(view.table().model()->rowCount(), all);
  view.filter().clear();
  session_.selection().select_groups({problem().grouping->group_of(view.model().update_at(0))});
  EXPECT_LT(view.table().model()->rowCount(), all);
  session_.selection().clear();
  EXPECT_EQ(view.table().model()->rowCount(), all);
}

// Ops of another model may have the same numbers.
TEST_F(VariablesViews, AnotherModelsVariablesAreNotThoseChosen) {
  VariablesView view(session_);
  view.resize(1000, 420);
  view.show();
  open_lenet();
  click_row(view.table(), 0);
  ASSERT_TRUE(view.form().synchroniser().isEnabled());
  const auto before = session_.snapshot().problem;
  ImportOptions import;
  import.batch = 16;
  session_.open_model(sample("models/lenet_slim.onnx"), import, {});
  ASSERT_TRUE(wait_until([&] {
    const auto now = session_.snapshot().problem;
    return now && now != before && now->graph != before->graph;
  }));
  EXPECT_FALSE(view.table().selectionModel()->hasSelection());
  EXPECT_FALSE(view.form().synchroniser().isEnabled());
}

// What stays the same keeps its selection, and the form has it, too.
TEST_F(VariablesViews, AnotherClusterKeepsTheSelection) {
  VariablesView view(session_);
  view.resize(1000, 420);
  view.show();
  open_lenet();
  click_row(view.table(), 0);
  const auto before = session_.snapshot().problem;
  session_.open_cluster(sample("clusters/tag-testbed.json"));
  ASSERT_TRUE(wait_until([&] {
    const auto now = session_.snapshot().problem;
    return now && now->cluster != before->cluster;
  }));
  EXPECT_EQ(view.table().selectionModel()->hasSelection(), view.form().synchroniser().isEnabled());
}

TEST_F(VariablesViews, TheFormIsWholeBesideTheTable) {
  open_lenet();
  for (const double larger : {1.0, 1.5}) {
    VariablesView view(session_);
    QFont font = view.font();
    font.setPointSizeF(font.pointSizeF() * larger);
    view.setFont(font);
    view.resize(800, 420);
    view.show();
    const QWidget& form = view.form();
    EXPECT_GE(form.width(), form.minimumSizeHint().width());
    EXPECT_LE(form.mapTo(&view, QPoint(form.width(), 0)).x(), view.width()) << larger;
  }
}

TEST_F(VariablesViews, TheInspectorShowsThoseOfTheGroup) {
  InspectorView inspector(session_);
  inspector.resize(290, 700);
  inspector.show();
  open_lenet();
  auto* view = inspector.findChild<VariablesView*>();
  ASSERT_TRUE(view);
  EXPECT_FALSE(view->isVisible());
  session_.selection().select_groups(
      {problem().grouping->group_of([&] { return view->model().update_at(0); }())});
  ASSERT_TRUE(wait_until([&] { return view->isVisible(); }));
  click_row(view->table(), 0);
  choose(view->form().synchroniser(), 2);
  EXPECT_EQ(variables().size(), 1u);
}

TEST_F(VariablesViews, WhereNothingIsSynchronisedItSaysSo) {
  VariablesView view(session_);
  view.resize(1000, 420);
  view.show();
  open_lenet();
  session_.edit(on_one_device(problem(), DeviceId(0)), "alone");
  click_row(view.table(), 0);
  EXPECT_FALSE(view.form().synchroniser().isEnabled());
}

}  // namespace
}  // namespace strato
