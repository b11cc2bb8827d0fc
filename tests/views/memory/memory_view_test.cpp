// What fills the memory, and what makes a step fit, as the window shows it.
#include "views/memory/memory_view.h"

#include <QLabel>
#include <QPushButton>
#include <QTest>

#include "core/search/evaluate/baselines.h"
#include "tests/views/models/fixture.h"
#include "views/memory/memory_bars.h"
#include "views/models/steering.h"

namespace strato {
namespace {

class MemoryOfTheStep : public SessionTest {
 protected:
  void SetUp() override {
    view_.resize(900, 600);
    view_.show();
  }
  bool known() { return !view_.use().looking() && !view_.use().rows().empty(); }
  bool tried() { return !view_.fitting().looking() && view_.fitting().found().has_value(); }
  QPushButton* button(const QString& label) {
    for (QPushButton* each : view_.findChildren<QPushButton*>())
      if (each->text() == label && each->isVisible()) return each;
    return nullptr;
  }
  bool says(const QString& words) {
    const auto labels = view_.findChildren<QLabel*>();
    return std::ranges::any_of(
        labels, [&](QLabel* label) { return label->isVisible() && label->text().contains(words); });
  }
  // Far more samples than fit on 11 GB.
  void open_too_large() { open("models/alexnet.onnx", 8192, 8); }

  MemoryView view_{session_};
};

TEST_F(MemoryOfTheStep, CausesAddUpToThePeakOfEachDevice) {
  open_lenet();
  ASSERT_TRUE(wait_until([&] { return known(); }));
  const Timeline& timeline = *session_.snapshot().outcome->timeline;
  std::size_t devices = 0;
  for (const MemoryRow& row : view_.use().rows()) {
    Bytes sum;
    for (const Bytes part : row.peak.by_cause) sum += part;
    for (const DeviceId device : row.alike.devices) {
      EXPECT_EQ(sum, timeline.devices[device].peak);
      ++devices;
    }
  }
  EXPECT_EQ(devices, problem().cluster->device_count());
  EXPECT_TRUE(says(QStringLiteral("Fits: at most")));
}

TEST_F(MemoryOfTheStep, IsFoundOnlyWhileItIsLookedAt) {
  view_.hide();
  open_lenet();
  QTest::qWait(50);
  EXPECT_TRUE(view_.use().rows().empty());
  view_.show();
  EXPECT_TRUE(wait_until([&] { return known(); }));
}

TEST_F(MemoryOfTheStep, BarsTellTheirPartsAndSelectTheirDevice) {
  open_lenet();
  ASSERT_TRUE(wait_until([&] { return known(); }));
  MemoryBars& bars = view_.bars();
  std::optional<MemoryCause> first;
  QPointF inside;
  for (int x = 0; x < bars.width() && !first; ++x) {
    inside = QPointF(x, bars.height() / 2.0 / static_cast<double>(view_.use().rows().size()));
    if (const auto place = bars.place_at(inside)) first = place->cause;
  }
  ASSERT_TRUE(first) << "no part of the first bar is to be hit";
  EXPECT_TRUE(bars.tip_at(inside).contains(QStringLiteral("▸ ")));
  EXPECT_FALSE(bars.place_at(QPointF(1, bars.height() + 1)));
  QTest::mouseClick(&bars, Qt::LeftButton, {}, inside.toPoint());
  EXPECT_EQ(session_.selection().device(), view_.use().rows().front().alike.devices.front());
}

TEST_F(MemoryOfTheStep, WhatMakesItFitIsFoundAndMade) {
  open_too_large();
  ASSERT_FALSE(session_.snapshot().outcome->timeline->feasible);
  ASSERT_TRUE(wait_until([&] { return known(); }));
  EXPECT_TRUE(says(QStringLiteral("Does not fit")));
  QPushButton* look = button(QStringLiteral("Look"));
  ASSERT_NE(look, nullptr);
  QTest::mouseClick(look, Qt::LeftButton);
  ASSERT_TRUE(wait_until([&] { return tried(); }));
  const FittingPlans found = *view_.fitting().found();
  ASSERT_FALSE(found.plans.empty());
  EXPECT_GT(found.plans.front().peak, Bytes(0));
  QPushButton* apply = button(QStringLiteral("Apply"));
  ASSERT_NE(apply, nullptr);
  QTest::mouseClick(apply, Qt::LeftButton);
  EXPECT_FALSE(view_.fitting().found()) << "it was about what was shown before";
  session_.settle();
  EXPECT_TRUE(session_.snapshot().outcome->timeline->feasible);
  EXPECT_EQ(step_time(), found.plans.front().score.step_time);
  ASSERT_TRUE(wait_until([&] { return known(); }));
  EXPECT_TRUE(says(QStringLiteral("Fits: at most")));
}

TEST_F(MemoryOfTheStep, LookingCanBeStopped) {
  open_too_large();
  ASSERT_TRUE(wait_until([&] { return known(); }));
  view_.fitting().look();
  view_.fitting().stop();
  ASSERT_TRUE(wait_until([&] { return tried(); }));
  EXPECT_TRUE(view_.fitting().found()->stopped);
  EXPECT_TRUE(says(QStringLiteral("Stopped: not all changes were tried")));
}

}  // namespace
}  // namespace strato
