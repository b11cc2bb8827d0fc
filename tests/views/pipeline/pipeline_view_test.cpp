// The pipeline as the window shows it: cells, bubbles, other schedules with their price, playing.
#include "views/pipeline/pipeline_view.h"

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "core/io/file.h"
#include "core/schedule/dag/layers.h"
#include "core/schedule/list/placement.h"
#include "tests/views/models/fixture.h"
#include "views/pipeline/cell_mover.h"
#include "views/pipeline/layer_strip.h"
#include "views/pipeline/pipeline_canvas.h"
#include "views/pipeline/pipeline_words.h"
#include "views/pipeline/schedule_bar.h"
#include "views/style/transport_bar.h"

namespace strato {
namespace {

class PipelineOfThePlan : public SessionTest {
 protected:
  void SetUp() override {
    view_.resize(900, 500);
    view_.show();
  }
  // Blocks of layers on so many devices, one after the other.
  Strategy staged(std::size_t stages, const MicroBatches& micro_batches) {
    const std::vector<double> speeds(stages, 1);
    std::vector<Decision> decisions;
    for (std::size_t stage = 0; stage < stages; ++stage)
      decisions.push_back(decision_on_device(DeviceId(stage)));
    Strategy strategy = strategy_by_ops(problem(), layer_blocks(problem(), speeds), decisions);
    strategy.micro_batches = micro_batches;
    return strategy;
  }
  void open_pipeline(const MicroBatches& micro_batches = {4, PipelineSchedule::OneFOneB},
                     std::size_t stages = 4) {
    ImportOptions import;
    import.batch = 16;
    ProblemOptions options;
    options.grouping.max_groups = 8;
    session_.open_cluster(sample("clusters/fastt-8xv100.json"));
    session_.open_model(sample("models/alexnet.onnx"), import, options);
    session_.settle();
    session_.show_found(staged(stages, micro_batches), QStringLiteral("staged"));
    session_.settle();
    ASSERT_TRUE(wait_until([&] { return is_shown(); }));
    ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  }
  bool is_shown() {
    const auto& picture = view_.model().shown();
    return picture && !view_.model().looking() && &picture->timeline() == &timeline();
  }
  const Timeline& timeline() { return *session_.snapshot().outcome->timeline; }
  const PipelinePicture& picture() { return *view_.canvas().scene().picture; }
  bool answered() { return view_.model().thinks() && !view_.model().waits(); }
  static void choose(QComboBox& box, const char* words) {
    const int index = box.findText(QString::fromUtf8(words));
    ASSERT_GE(index, 0) << words;
    box.setCurrentIndex(index);
    emit box.activated(index);
  }
  void click(const QPointF& point) {
    QTest::mouseClick(view_.canvas().viewport(), Qt::LeftButton, {}, point.toPoint());
  }

  PipelineView view_{session_};
};

TEST_F(PipelineOfThePlan, SaysWhatToDoWithoutOne) {
  EXPECT_TRUE(view_.is_empty());
  EXPECT_TRUE(view_.empty_text().contains(QStringLiteral("Open a model")));
  open_lenet();
  ASSERT_TRUE(wait_until([&] { return is_shown(); }));
  EXPECT_TRUE(view_.is_empty());
  EXPECT_TRUE(view_.empty_text().contains(QStringLiteral("batch as a whole")));
  auto* plan = view_.findChild<QPushButton*>(QStringLiteral("plan a pipeline"));
  ASSERT_NE(plan, nullptr);
  ASSERT_TRUE(plan->isVisible());
  QTest::mouseClick(plan, Qt::LeftButton);
  ASSERT_TRUE(wait_until([&] { return session_.search().state == SearchPhase::Idle; }));
  EXPECT_EQ(session_.search().planner, QStringLiteral("pipeline"));
}

TEST_F(PipelineOfThePlan, ShowsARowForEachStage) {
  open_pipeline();
  ASSERT_FALSE(view_.is_empty());
  ASSERT_EQ(picture().rows().rows.size(), 4u);
  for (const StageRow& row : picture().rows().rows) EXPECT_EQ(row.cells.size(), 8u);
  EXPECT_TRUE(view_.headline().contains(QStringLiteral("1f1b · 4 stages · 4 micro-batches")))
      << view_.headline().toStdString();
  for (std::size_t row = 0; row < 4; ++row)
    EXPECT_EQ(picture().memory()[row].peak(),
              timeline().devices[picture().rows().rows[row].shown].peak.value);
}

TEST_F(PipelineOfThePlan, IsFoundOnlyWhileItIsLookedAt) {
  view_.hide();
  open_lenet();
  QCoreApplication::processEvents();
  EXPECT_FALSE(view_.model().looking());
  EXPECT_FALSE(view_.model().shown());
  view_.show();
  EXPECT_TRUE(wait_until([&] { return is_shown(); }));
}

TEST_F(PipelineOfThePlan, CellsAndBubblesAreWhereTheyAreDrawn) {
  open_pipeline();
  const PipelineScene& scene = view_.canvas().scene();
  for (std::size_t row = 0; row < 4; ++row) {
    const StageRow& stage = picture().rows().rows[row];
    for (std::size_t i = 0; i < stage.cells.size(); ++i) {
      const PipelinePicture::CellAt place{row, i};
      const QRectF box = scene.box_of(place);
      if (box.width() < 3) continue;
      EXPECT_EQ(scene.cell_at(box.center()), place);
    }
  }
  const StageRow& last = picture().rows().rows[3];
  const double middle = scene.mapping.x(static_cast<double>(last.bubbles.front().end.value) / 2);
  const QPointF in_bubble(middle, scene.cells_of(3).center().y());
  EXPECT_EQ(scene.bubble_at(in_bubble), &last.bubbles.front());
  EXPECT_TRUE(view_.canvas().tip_at(in_bubble).contains(QStringLiteral("The pipeline fills")))
      << view_.canvas().tip_at(in_bubble).toStdString();
  EXPECT_FALSE(scene.cell_at(in_bubble));
}

TEST_F(PipelineOfThePlan, AClickOnACellSelectsWhatItComputes) {
  open_pipeline();
  const PipelineScene& scene = view_.canvas().scene();
  click(scene.box_of({1, 0}).center());
  EXPECT_EQ(view_.canvas().selected(), (PipelinePicture::CellAt{1, 0}));
  ASSERT_FALSE(session_.selection().groups().empty());
  for (const GroupId group : session_.selection().groups())
    EXPECT_EQ(session_.snapshot().strategy.groups[group]->devices.front().device, DeviceId(1));
  QTest::keyClick(&view_, Qt::Key_Down);
  EXPECT_EQ(view_.canvas().selected()->row, 2u);
  QTest::keyClick(&view_, Qt::Key_Escape);
  EXPECT_FALSE(view_.canvas().selected());
}

TEST_F(PipelineOfThePlan, AnotherScheduleIsPricedBeforeItIsApplied) {
  open_pipeline();
  const Strategy before = session_.snapshot().strategy;
  EXPECT_FALSE(view_.schedule().apply_button().isVisible());
  choose(view_.schedule().schedule(), "gpipe");
  ASSERT_TRUE(wait_until([&] { return answered(); }));
  EXPECT_EQ(session_.snapshot().strategy, before) << "it is only thought about";
  ASSERT_TRUE(view_.model().thought());
  EXPECT_EQ(&picture(), view_.model().thought().get()) << "and seen";
  EXPECT_TRUE(view_.headline().startsWith(QStringLiteral("Not applied yet: gpipe")));
  EXPECT_TRUE(view_.schedule().price().contains(QStringLiteral("bubble")))
      << view_.schedule().price().toStdString();
  const Nanos promised = view_.model().thought()->price().step_time;
  ASSERT_TRUE(view_.schedule().apply_button().isVisible());
  QTest::mouseClick(&view_.schedule().apply_button(), Qt::LeftButton);
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy.micro_batches, (MicroBatches{4, PipelineSchedule::Gpipe}));
  EXPECT_EQ(step_time(), promised);
  EXPECT_FALSE(view_.model().thinks());
  session_.undo_stack().undo();
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy, before);
}

TEST_F(PipelineOfThePlan, WhatIsThoughtAboutCanBeDiscarded) {
  open_pipeline();
  const auto shown = view_.model().shown();
  choose(view_.schedule().count(), "8 micro-batches");
  ASSERT_TRUE(wait_until([&] { return answered(); }));
  EXPECT_EQ(picture().rows().rows[0].cells.size(), 16u);
  ASSERT_TRUE(view_.schedule().discard_button().isVisible());
  QTest::mouseClick(&view_.schedule().discard_button(), Qt::LeftButton);
  EXPECT_EQ(&picture(), shown.get());
  EXPECT_EQ(view_.schedule().count().currentText(), QStringLiteral("4 micro-batches"));
  EXPECT_EQ(session_.undo_stack().count(), 1);
}

TEST_F(PipelineOfThePlan, TheListSaysWhatEachScheduleCosts) {
  open_pipeline();
  SchedulePrices& prices = view_.schedule().prices();
  prices.ask(4);
  const auto all = [&] {
    for (std::size_t i = 0; i < kPipelineSchedules.size(); ++i)
      if (!prices.of(static_cast<PipelineSchedule>(i)).price) return false;
    return true;
  };
  ASSERT_TRUE(wait_until(all));
  EXPECT_EQ(prices.of(PipelineSchedule::OneFOneB).price->step_time, step_time());
  EXPECT_GE(prices.of(PipelineSchedule::Gpipe).price->peak,
            prices.of(PipelineSchedule::OneFOneB).price->peak);
  EXPECT_EQ(view_.schedule().schedule().itemData(2, Qt::UserRole).toString(),
            price_words(*prices.of(PipelineSchedule::OneFOneB).price));
}

TEST_F(PipelineOfThePlan, TablesGoOutAndComeIn) {
  open_pipeline();
  ASSERT_TRUE(folder_.isValid());
  const QString file = folder_.filePath(QStringLiteral("schedule.csv"));
  view_.schedule().save_table(file);
  const std::string text = read_file(file.toStdString());
  EXPECT_TRUE(text.starts_with("0F0,0F1,0F2,0F3,0B0,")) << text;
  view_.schedule().open_table(file);
  ASSERT_TRUE(wait_until([&] { return answered(); }));
  ASSERT_TRUE(view_.model().thought()) << view_.model().refusal().toStdString();
  EXPECT_EQ(view_.model().thought()->price().step_time, step_time());
  ASSERT_TRUE(view_.model().apply());
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy.micro_batches.schedule, PipelineSchedule::ByHand);
}

// A table that waits for itself is refused, with the cells of the circle.
TEST_F(PipelineOfThePlan, TablesThatCannotGoOnAreRefused) {
  open_pipeline({2, PipelineSchedule::OneFOneB}, 2);
  ASSERT_TRUE(folder_.isValid());
  const QString file = folder_.filePath(QStringLiteral("stuck.csv"));
  write_file(file.toStdString(), "0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n");
  view_.schedule().open_table(file);
  ASSERT_TRUE(wait_until([&] { return answered(); }));
  EXPECT_FALSE(view_.model().thought());
  EXPECT_TRUE(view_.model().refusal().contains(QStringLiteral("waits for")))
      << view_.model().refusal().toStdString();
  EXPECT_EQ(view_.schedule().price(), view_.model().refusal());
  EXPECT_FALSE(view_.schedule().apply_button().isVisible());
  EXPECT_FALSE(view_.model().apply());
}

TEST_F(PipelineOfThePlan, IsPlayedInTheOrderOfTime) {
  open_pipeline();
  style::TransportBar& transport = view_.transport();
  ASSERT_EQ(transport.steps(), 32u);
  EXPECT_EQ(transport.position(), 32u) << "all of it is shown at first";
  view_.setFocus();
  QTest::keyClick(&view_, Qt::Key_Home);
  QTest::keyClick(&view_, Qt::Key_Right);
  const PipelineScene& scene = view_.canvas().scene();
  EXPECT_TRUE(scene.is_revealed({0, 0}));
  EXPECT_FALSE(scene.is_revealed({0, 1}));
  EXPECT_TRUE(
      view_.story().contains(QStringLiteral("stage 1 begins the forward pass of "
                                            "micro-batch 1 of 4 (0F0")))
      << view_.story().toStdString();
  EXPECT_TRUE(view_.story().contains(QStringLiteral("3 stages wait")))
      << view_.story().toStdString();
  Nanos before;
  for (const auto place : picture().in_time()) {
    EXPECT_GE(picture().cell(place).begin, before);
    before = picture().cell(place).begin;
  }
  QTest::keyClick(&view_, Qt::Key_Space);
  EXPECT_TRUE(transport.playing());
  QTest::keyClick(&view_, Qt::Key_Space);
  QTest::keyClick(&view_, Qt::Key_End);
  EXPECT_TRUE(scene.is_revealed({0, 7}));
}

TEST_F(PipelineOfThePlan, BordersOfStagesMoveByKeys) {
  open_pipeline();
  LayerStrip& strip = view_.layers();
  ASSERT_TRUE(strip.isVisible());
  const StageLayers before = *picture().layers();
  strip.setFocus();
  ASSERT_EQ(strip.chosen(), 1u);
  QTest::keyClick(&strip, Qt::Key_Right);
  ASSERT_EQ(strip.chosen(), 2u);
  const bool can_be_earlier = before.begins[2] > before.earliest(2);
  QTest::keyClick(&strip, can_be_earlier ? Qt::Key_Left : Qt::Key_Right, Qt::AltModifier);
  ASSERT_TRUE(wait_until([&] { return answered(); }));
  ASSERT_TRUE(view_.model().thought()) << view_.model().refusal().toStdString();
  EXPECT_EQ(picture().layers()->begins[2], before.begins[2] + (can_be_earlier ? -1 : 1));
  EXPECT_EQ(picture().layers()->begins[1], before.begins[1]);
  EXPECT_EQ(session_.undo_stack().count(), 1) << "only thought about";
  QTest::keyClick(&strip, Qt::Key_Return);
  session_.settle();
  EXPECT_EQ(session_.undo_stack().count(), 2);
  ASSERT_TRUE(wait_until([&] { return is_shown(); }));
  EXPECT_EQ(picture().layers()->begins[2], before.begins[2] + (can_be_earlier ? -1 : 1));
  session_.undo_stack().undo();
  session_.settle();
  ASSERT_TRUE(wait_until([&] { return is_shown(); }));
  EXPECT_EQ(picture().layers()->begins, before.begins);
}

TEST_F(PipelineOfThePlan, BordersAreDraggedWithTheirPrice) {
  open_pipeline({4, PipelineSchedule::OneFOneB}, 2);
  LayerStrip& strip = view_.layers();
  const std::int32_t begins = picture().layers()->begins[1];
  const QPoint from(static_cast<int>(strip.x_of(1)), strip.height() / 2);
  ASSERT_EQ(strip.border_at(from), 1u);
  const QPoint to(strip.width() - 10, strip.height() / 2);
  const std::int32_t wanted = strip.layer_at(1, to.x());
  ASSERT_NE(wanted, begins);
  QTest::mousePress(&strip, Qt::LeftButton, {}, from);
  QMouseEvent move(QEvent::MouseMove, to, strip.mapToGlobal(to), Qt::NoButton, Qt::LeftButton, {});
  QCoreApplication::sendEvent(&strip, &move);
  ASSERT_TRUE(wait_until([&] { return answered(); }));
  const auto* note = strip.findChild<QLabel*>(QStringLiteral("drag note"));
  ASSERT_NE(note, nullptr);
  EXPECT_TRUE(note->text().contains(QStringLiteral("bubble"))) << note->text().toStdString();
  const Nanos promised = view_.model().thought()->price().step_time;
  QTest::mouseRelease(&strip, Qt::LeftButton, {}, to);
  session_.settle();
  EXPECT_EQ(step_time(), promised);
  ASSERT_TRUE(wait_until([&] { return is_shown(); }));
  EXPECT_EQ(picture().layers()->begins[1], wanted);
}

class CellsByHand : public PipelineOfThePlan {
 protected:
  // Presses on the cell, and moves over the place; false: nothing came of it.
  void drag(std::size_t row, std::size_t moved, std::size_t before) {
    const PipelineScene& scene = view_.canvas().scene();
    const QPointF from = scene.box_of({row, moved}).center();
    const QRectF over = scene.box_of({row, before});
    to_ = QPointF(over.left() + over.width() / 4, from.y());
    QTest::mousePress(view_.canvas().viewport(), Qt::LeftButton, {}, from.toPoint());
    QMouseEvent move(QEvent::MouseMove, to_, view_.canvas().viewport()->mapToGlobal(to_),
                     Qt::NoButton, Qt::LeftButton, {});
    QCoreApplication::sendEvent(view_.canvas().viewport(), &move);
  }
  void drop() { QTest::mouseRelease(view_.canvas().viewport(), Qt::LeftButton, {}, to_.toPoint()); }
  std::vector<std::string> rows() {
    return schedule_rows(session_.snapshot().strategy.micro_batches.table);
  }
  QPointF to_;
};

TEST_F(CellsByHand, ADragMakesATable) {
  open_pipeline({4, PipelineSchedule::OneFOneB}, 2);
  ASSERT_EQ(schedule_rows(picture().plan().table())[0], "0F0 0F1 0B0 0F2 0B1 0F3 0B2 0B3");
  drag(0, 3, 2);
  ASSERT_TRUE(view_.canvas().drags());
  ASSERT_TRUE(wait_until([&] { return answered(); }));
  EXPECT_TRUE(view_.mover().refusal().isEmpty());
  EXPECT_TRUE(view_.canvas().drags()) << "the picture stays under the cursor";
  drop();
  session_.settle();
  ASSERT_EQ(session_.snapshot().strategy.micro_batches.schedule, PipelineSchedule::ByHand);
  EXPECT_EQ(rows()[0], "0F0 0F1 0F2 0B0 0B1 0F3 0B2 0B3");
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
}

TEST_F(CellsByHand, WhatCouldNotGoOnIsRefusedWhileItIsDragged) {
  open_pipeline({4, PipelineSchedule::Gpipe}, 2);
  ASSERT_EQ(schedule_rows(picture().plan().table())[1], "1F0 1F1 1F2 1F3 1B0 1B1 1B2 1B3");
  drag(1, 4, 0);  // its first backward pass before all forward passes
  ASSERT_TRUE(view_.canvas().drags());
  EXPECT_TRUE(view_.mover().refusal().contains(QStringLiteral("1B0 waits for 1F0")))
      << view_.mover().refusal().toStdString();
  EXPECT_TRUE(view_.canvas().scene().drop->refused);
  EXPECT_FALSE(view_.model().waits()) << "nothing is simulated";
  const auto* note = view_.canvas().findChild<QLabel*>(QStringLiteral("drag note"));
  ASSERT_NE(note, nullptr);
  EXPECT_TRUE(note->text().contains(QStringLiteral("waits for"))) << note->text().toStdString();
  drop();
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy.micro_batches.schedule, PipelineSchedule::Gpipe);
  EXPECT_EQ(session_.undo_stack().count(), 1);
}

TEST_F(CellsByHand, KeysMoveTheSelectedCell) {
  open_pipeline({4, PipelineSchedule::OneFOneB}, 2);
  view_.setFocus();
  click(view_.canvas().scene().box_of({0, 3}).center());
  QTest::keyClick(&view_, Qt::Key_Left, Qt::AltModifier);
  ASSERT_TRUE(wait_until([&] { return answered(); }));
  ASSERT_TRUE(view_.canvas().selected());
  EXPECT_EQ(view_.canvas().selected()->cell, 2u) << "it stays selected where it is now";
  QTest::keyClick(&view_, Qt::Key_Return);
  session_.settle();
  EXPECT_EQ(rows()[0], "0F0 0F1 0F2 0B0 0B1 0F3 0B2 0B3");
}

}  // namespace
}  // namespace strato
