// A run of our own with known figures, opened in the view: what it shows, what hands do with it,
// and what it refuses.
#include "views/traces/traces_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTest>

#include "tests/core/trace/trace_kit.h"
#include "tests/views/models/fixture.h"
#include "views/compare/waterfall.h"
#include "views/models/explanation.h"
#include "views/traces/recorded_canvas.h"
#include "views/traces/recorded_text.h"

namespace strato {
namespace {

constexpr int kRanks = 4, kSteps = 5, kStep = 1000;  // µs

// A step: 400 µs of computing of which 50 are over the AllReduce, the AllReduce, 50 µs of copying.
// `late`: that rank computes 200 µs more, and the others wait for it.
std::string rank_text(int rank, bool late) {
  std::vector<std::string> events;
  for (int step = 0; step < kSteps; ++step) {
    const double at = step * kStep;
    const double length = late ? 300 : 500;
    events.push_back(
        trace::event("user_annotation", "ProfilerStep#" + std::to_string(step + 3), at, kStep));
    events.push_back(trace::kernel("gemm", at, 400));
    if (late) events.push_back(trace::kernel("slow_gemm", at + 400, 200));
    events.push_back(trace::all_reduce(at + 850 - length, length, "[0, 1, 2, 3]"));
    events.push_back(
        trace::event("gpu_memcpy", "Memcpy DtoH", at + 850, 50, R"("device":0,"stream":7)"));
  }
  return trace::kineto(events, rank, kRanks);
}

class RecordedTraces : public SessionTest {
 protected:
  void SetUp() override {
    view_.resize(1000, 700);
    view_.show();
  }
  QString folder_with(int late_rank, int ranks = kRanks) {
    for (int rank = 0; rank < ranks; ++rank)
      trace::write(path(QStringLiteral("rank-%1.json").arg(rank)),
                   rank_text(rank, rank == late_rank));
    return folder_.path();
  }
  std::filesystem::path path(const QString& name) { return folder_.filePath(name).toStdString(); }
  void open_traces(const QString& file) {
    view_.open(file);
    view_.model().settle();
    EXPECT_TRUE(wait_until(
        [&] { return !view_.model().run() || view_.ranks().figures().rowCount() > 0; }, 20));
  }
  QString cell(FigureTable& table, int row, int column) {
    return table.figures().index(row, column).data().toString();
  }
  RecordedCanvas& canvas() { return view_.canvas(); }
  QWidget* port() { return view_.canvas().viewport(); }
  QPoint at(double us, int y) {
    return {static_cast<int>(canvas().scene().mapping.x(us * 1000)), y};
  }
  int rank_y(std::size_t rank) {
    for (const RecordedPlace& place : canvas().scene().places)
      if (place.of == RecordedPlace::Of::Rank && place.rank == rank)
        return kRanksTop + place.y + place.height / 2 - canvas().scene().scroll;
    return -1;
  }
  bool figures_are(int row, int column, const QString& text) {
    return wait_until([&] { return cell(view_.ranks(), row, column) == text; }, 10);
  }

  TracesView view_{session_};
};

TEST_F(RecordedTraces, SaysWhatToDoWhileNothingIsOpen) {
  const auto labels = view_.findChildren<QLabel*>();
  EXPECT_TRUE(std::ranges::any_of(labels, [](const QLabel* label) {
    return label->isVisible() && label->text().contains(QStringLiteral("one file for each"));
  }));
  const auto buttons = view_.findChildren<QPushButton*>();
  EXPECT_TRUE(std::ranges::any_of(buttons, [](const QPushButton* button) {
    return button->isVisible() && button->text().contains(QStringLiteral("Trace Fol&der"));
  }));
}

TEST_F(RecordedTraces, FiguresOfTheWholeRunAndOfAStep) {
  open_traces(folder_with(-1));
  ASSERT_TRUE(view_.model().run());
  EXPECT_EQ(view_.headline().toStdString(),
            "4 ranks · 5 steps, typically 1.00 ms · clocks within 0 ns · data parallelism of 4");
  ASSERT_EQ(view_.ranks().figures().rowCount(), kRanks);
  EXPECT_EQ(cell(view_.ranks(), 0, 1), QStringLiteral("2.00 ms"));  // computing
  EXPECT_EQ(cell(view_.ranks(), 0, 2), QStringLiteral("2.25 ms"));  // exposed
  EXPECT_EQ(cell(view_.ranks(), 0, 3), QStringLiteral("250 µs"));   // hidden
  EXPECT_EQ(cell(view_.ranks(), 0, 4), QStringLiteral("250 µs"));   // copies
  ASSERT_EQ(view_.steps().count(), kSteps + 1);
  view_.steps().setCurrentIndex(2);
  emit view_.steps().activated(2);
  EXPECT_TRUE(figures_are(0, 1, QStringLiteral("400 µs")));
  EXPECT_EQ(cell(view_.ranks(), 0, 2), QStringLiteral("450 µs"));
  EXPECT_EQ(cell(view_.ranks(), 0, 6), QStringLiteral("100 µs"));  // idle
  const RecordedScene& scene = canvas().scene();
  ASSERT_TRUE(scene.range);
  EXPECT_EQ(scene.range->begin, Nanos(1'000'000));
  EXPECT_LT(scene.mapping.span(), 1.1e6) << "the step fills the view";
  EXPECT_EQ(cell(view_.kernels(), 0, 0), QStringLiteral("ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
  EXPECT_EQ(cell(view_.kernels(), 0, 2), QStringLiteral("4")) << "one on each rank";
  EXPECT_EQ(cell(view_.communication(), 0, 1), QStringLiteral("AllReduce"));
  EXPECT_EQ(cell(view_.communication(), 0, 5), QStringLiteral("16.0 kB"));
}

TEST_F(RecordedTraces, TheLateRankIsMarked) {
  open_traces(folder_with(2));
  EXPECT_TRUE(view_.headline().endsWith(QStringLiteral("the others wait for rank 2")));
  EXPECT_TRUE(cell(view_.ranks(), 2, 0).contains(QStringLiteral("late")));
  EXPECT_TRUE(view_.ranks().figures().index(2, 0).data(Qt::FontRole).value<QFont>().bold());
  EXPECT_EQ(cell(view_.ranks(), 2, 7), QStringLiteral("5 of 5"));
  for (const int row : {0, 1, 3}) {
    EXPECT_FALSE(cell(view_.ranks(), row, 0).contains(QStringLiteral("late")));
    EXPECT_FALSE(view_.ranks().figures().index(row, 0).data(Qt::FontRole).value<QFont>().bold());
  }
  EXPECT_TRUE(canvas().tooltip({60, rank_y(2)}).contains(QStringLiteral("was the last at 5 of 5")));
  auto* notes = view_.findChild<QListWidget*>();
  ASSERT_GT(notes->count(), 1);
  EXPECT_TRUE(notes->item(0)->text().startsWith(QStringLiteral("Rank 2 was the last at 5 of 5")));
}

TEST_F(RecordedTraces, NoneIsMarkedWhereRanksAreAlike) {
  open_traces(folder_with(-1));
  EXPECT_FALSE(view_.headline().contains(QStringLiteral("wait")));
  for (int row = 0; row < kRanks; ++row)
    EXPECT_EQ(cell(view_.ranks(), row, 0), QString::number(row));
}

TEST_F(RecordedTraces, RanksThatAreMissingAreNamed) {
  open_traces(folder_with(-1, 2));
  EXPECT_TRUE(view_.headline().startsWith(QStringLiteral("2 of 4 ranks, without 2, 3")))
      << view_.headline().toStdString();
}

TEST_F(RecordedTraces, ClosingFreesTheRun) {
  open_traces(folder_with(1));
  open_lenet();
  view_.pages().setCurrentIndex(3);
  ASSERT_TRUE(wait_until([&] { return !view_.waterfall().rows().empty(); }));
  const std::weak_ptr<const RecordedRun> run = view_.model().run();
  ASSERT_FALSE(run.expired());
  for (QPushButton* button : view_.findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("C&lose")) QTest::mouseClick(button, Qt::LeftButton);
  EXPECT_TRUE(wait_until([&] { return run.expired(); }, 5));
  EXPECT_FALSE(view_.model().run());
  EXPECT_FALSE(canvas().isVisible());
}

TEST_F(RecordedTraces, WhatIsNoTraceIsRefusedInASentence) {
  open_traces(folder_with(-1));
  trace::write(path(QStringLiteral("no.json")), "{\"some\": \"text\"}");
  trace::write(path(QStringLiteral("empty.json")), "");
  trace::write(path(QStringLiteral("cut.json")), rank_text(0, false).substr(0, 130));
  for (const char* name : {"no.json", "empty.json", "cut.json", "not there"}) {
    view_.open(folder_.filePath(QString::fromUtf8(name)));
    view_.model().settle();
    EXPECT_FALSE(view_.model().failure().isEmpty()) << name;
    EXPECT_TRUE(view_.model().run()) << "the one before stays";
    const auto labels = view_.findChildren<QLabel*>();
    EXPECT_TRUE(std::ranges::any_of(labels, [&](const QLabel* label) {
      return label->isVisible() && label->text() == view_.model().failure();
    })) << name;
  }
}

TEST_F(RecordedTraces, OfATruncatedFileWhatIsThereIsUsedAndSaid) {
  const std::string whole = rank_text(0, false);
  trace::write(path(QStringLiteral("rank-0.json")), whole.substr(0, whole.size() * 2 / 3));
  open_traces(folder_.filePath(QStringLiteral("rank-0.json")));
  ASSERT_TRUE(view_.model().run());
  const auto* notes = view_.findChild<QListWidget*>();
  ASSERT_GT(notes->count(), 0);
  EXPECT_TRUE(
      notes->item(notes->count() - 1)->text().contains(QStringLiteral("end"), Qt::CaseInsensitive));
}

TEST_F(RecordedTraces, ReadingCanBeStopped) {
  std::vector<std::string> events;
  for (int i = 0; i < 200'000; ++i) events.push_back(trace::kernel("gemm", i * 10, 5));
  trace::write(path(QStringLiteral("large.json")), trace::kineto(events));
  view_.open(folder_.filePath(QStringLiteral("large.json")));
  ASSERT_TRUE(view_.model().reading());
  auto* stop = view_.findChild<QPushButton*>(QStringLiteral("stop"));
  ASSERT_TRUE(stop->isVisible());
  QTest::mouseClick(stop, Qt::LeftButton);
  EXPECT_FALSE(view_.model().reading());
  QTest::qWait(300);
  EXPECT_FALSE(view_.model().run()) << "what was stopped is not shown";
  EXPECT_TRUE(view_.model().failure().isEmpty());
  open_traces(folder_with(-1));  // the large one is among them, and read now
  EXPECT_TRUE(view_.model().run());
}

TEST_F(RecordedTraces, ADragChoosesAStretchAndEscapeLetsItGo) {
  open_traces(folder_with(-1));
  const int y = rank_y(1);
  QTest::mousePress(port(), Qt::LeftButton, {}, at(0, y));
  QTest::mouseMove(port(), at(500, y));
  QTest::mouseMove(port(), at(2000, y));
  QTest::mouseRelease(port(), Qt::LeftButton, {}, at(2000, y));
  ASSERT_TRUE(canvas().scene().range);
  EXPECT_NEAR(static_cast<double>(canvas().scene().range->end.value), 2e6, 2e4);
  EXPECT_TRUE(wait_until(
      [&] {
        return cell(view_.ranks(), 0, 1).startsWith(QStringLiteral("80")) ||
               cell(view_.ranks(), 0, 1).startsWith(QStringLiteral("79"));
      },
      10))
      << cell(view_.ranks(), 0, 1).toStdString();
  EXPECT_TRUE(view_.steps().currentText().startsWith(QStringLiteral("A stretch")));
  QTest::keyClick(&canvas(), Qt::Key_Escape);
  EXPECT_FALSE(canvas().scene().range);
  EXPECT_TRUE(figures_are(0, 1, QStringLiteral("2.00 ms")));
  EXPECT_EQ(view_.steps().currentText(), QStringLiteral("Whole run"));
}

TEST_F(RecordedTraces, StepsAreChosenByAClickAndByKeys) {
  open_traces(folder_with(-1));
  QTest::mouseClick(port(), Qt::LeftButton, {}, at(1500, kStepsTop + 8));
  ASSERT_TRUE(canvas().scene().range);
  EXPECT_EQ(canvas().scene().range->begin, Nanos(1'000'000));
  QTest::keyClick(&canvas(), Qt::Key_Period);
  EXPECT_EQ(canvas().scene().range->begin, Nanos(2'000'000));
  QTest::keyClick(&canvas(), Qt::Key_Comma);
  QTest::keyClick(&canvas(), Qt::Key_Comma);
  EXPECT_EQ(canvas().scene().range->begin, Nanos(0));
  QTest::keyClick(&canvas(), Qt::Key_Home);
  const double span = canvas().scene().mapping.span();
  QTest::keyClick(&canvas(), Qt::Key_W);
  EXPECT_LT(canvas().scene().mapping.span(), span * 0.8);
}

TEST_F(RecordedTraces, StreamsAreOpenedAndTheirEventsTell) {
  open_traces(folder_with(2));
  const std::size_t folded = canvas().scene().places.size();
  QTest::mouseClick(port(), Qt::LeftButton, {}, QPoint(8, rank_y(1)));
  ASSERT_EQ(canvas().scene().places.size(), folded + 2) << "streams 7 and 8";
  QString words;
  for (const RecordedPlace& place : canvas().scene().places) {
    if (place.of != RecordedPlace::Of::Stream) continue;
    const int y = kRanksTop + place.y + place.height / 2;
    words += canvas().tooltip(at(600, y));
  }
  EXPECT_TRUE(words.contains(QStringLiteral("ncclDevKernel_AllReduce"))) << words.toStdString();
  EXPECT_TRUE(words.contains(QStringLiteral("stream 8 of device 0")));
  EXPECT_TRUE(words.contains(QStringLiteral("in group 0 (4 ranks)")));
  EXPECT_TRUE(words.contains(QStringLiteral("4.00 kB sent")));
  EXPECT_TRUE(canvas().tooltip(at(100, rank_y(0))).contains(QStringLiteral("computing, 400 µs")));
  QTest::mouseClick(port(), Qt::LeftButton, {}, QPoint(8, rank_y(1)));
  EXPECT_EQ(canvas().scene().places.size(), folded);
}

TEST_F(RecordedTraces, ARankThatIsChosenIsSoInTheTableAndItsKernelsAreAlone) {
  open_traces(folder_with(2));
  QTest::mouseClick(port(), Qt::LeftButton, {}, QPoint(60, rank_y(2)));
  EXPECT_EQ(view_.ranks().currentIndex().row(), 2);
  EXPECT_TRUE(
      wait_until([&] { return cell(view_.kernels(), 0, 0) == QStringLiteral("gemm"); }, 10));
  EXPECT_EQ(cell(view_.kernels(), 0, 2), QStringLiteral("5"));
  view_.ranks().setFocus();
  QTest::keyClick(&view_.ranks(), Qt::Key_Up);
  EXPECT_EQ(canvas().scene().rank, std::optional<std::size_t>(1));
}

TEST_F(RecordedTraces, TheRecordedStepBesideThePlan) {
  open_lenet();
  open_traces(folder_with(-1));
  view_.pages().setCurrentIndex(3);
  ASSERT_TRUE(wait_until([&] { return !view_.waterfall().rows().empty(); }));
  const auto& rows = view_.waterfall().rows();
  EXPECT_EQ(rows.front().end, step_time());
  EXPECT_EQ(rows.back().end, Nanos(1'000'000));
  Nanos at = rows.front().end;  // causes lead from the one to the other
  for (const WaterfallRow& row : rows) {
    if (row.kind == WaterfallRow::Kind::Total) continue;
    EXPECT_EQ(row.kind == WaterfallRow::Kind::More ? row.begin : row.end, at);
    at = row.kind == WaterfallRow::Kind::More ? row.end : row.begin;
  }
  EXPECT_EQ(at, rows.back().end);
  EXPECT_TRUE(view_.sentence_beside().startsWith(QStringLiteral("A recorded step takes 1.00 ms")));
  EXPECT_TRUE(view_.sentence_beside().contains(QStringLiteral("2 devices and the run 4 ranks")));
  EXPECT_FALSE(view_.beside().isVisible()) << "there is no device for each rank";
}

TEST_F(RecordedTraces, AsManyRanksAsDevicesStandBelowThem) {
  open_lenet();
  open_traces(folder_with(-1, 2));
  view_.pages().setCurrentIndex(3);
  ASSERT_TRUE(wait_until([&] { return view_.beside().isVisible(); }));
  view_.beside().setChecked(true);
  const RecordedScene& scene = canvas().scene();
  ASSERT_EQ(scene.simulated.size(), 2u);
  EXPECT_EQ(scene.simulated_begin, Nanos(1'000'000)) << "the first steady step";
  EXPECT_EQ(scene.places[0].of, RecordedPlace::Of::Simulated);
  const RangeTimes times = times_in(scene.simulated[0], Nanos(0), step_time());
  const DeviceTimes expected = device_times(*session_.snapshot().outcome->timeline)[DeviceId(0)];
  EXPECT_EQ(times.by[kComputing], expected.compute);
  view_.beside().setChecked(false);
  EXPECT_TRUE(canvas().scene().simulated.empty());
}

TEST_F(RecordedTraces, ThreadsOfTheHostWhereNothingElseIsThere) {
  trace::write(path(QStringLiteral("host.json")),
               "[" +
                   trace::joined({trace::event("cpu_op", "outer", 0, 100),
                                  trace::event("cpu_op", "inner", 10, 20),
                                  trace::event("cpu_op", "next", 120, 30)}) +
                   "]");
  open_traces(folder_.filePath(QStringLiteral("host.json")));
  ASSERT_TRUE(view_.model().run());
  ASSERT_EQ(canvas().scene().opened.size(), 1u) << "a rank without kernels would be empty";
  EXPECT_EQ(canvas().scene().opened.at(0).front().slices.size(), 2u) << "inner is in outer";
}

TEST_F(RecordedTraces, OperatorsAreCountedWhereNothingHasATime) {
  trace::write(
      path(QStringLiteral("order.json")),
      R"({"schema":"1.0.2-chakra.0.0.4","pid":1,"nodes":[)"
      R"({"id":2,"name":"aten::mm","ctrl_deps":1,"inputs":{},"outputs":{},"attrs":[]},)"
      R"({"id":3,"name":"aten::mm","ctrl_deps":1,"inputs":{},"outputs":{},"attrs":[]},)"
      R"({"id":4,"name":"aten::add","ctrl_deps":1,"inputs":{},"outputs":{},"attrs":[]}]})");
  view_.open(folder_.filePath(QStringLiteral("order.json")));
  view_.model().settle();
  ASSERT_TRUE(view_.model().run()) << view_.model().failure().toStdString();
  EXPECT_FALSE(canvas().isVisible());
  ASSERT_TRUE(wait_until([&] { return view_.kernels().figures().rowCount() == 2; }, 10));
  EXPECT_TRUE(view_.kernels().isVisible());
  EXPECT_EQ(cell(view_.kernels(), 0, 0), QStringLiteral("aten::mm"));
  EXPECT_EQ(cell(view_.kernels(), 0, 2), QStringLiteral("2"));
}

TEST_F(RecordedTraces, IsDrawnInLightAndDark) {
  open_traces(folder_with(2));
  const QImage light = canvas().grab().toImage();
  QPalette dark;
  dark.setColor(QPalette::Window, Qt::black);
  dark.setColor(QPalette::Base, Qt::black);
  dark.setColor(QPalette::Text, Qt::white);
  view_.setPalette(dark);
  EXPECT_NE(canvas().grab().toImage(), light);
}

}  // namespace
}  // namespace strato
