// Work off the GUI thread, and painting beside it.
#include "views/timeline/latest_job.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QImage>
#include <QLinearGradient>
#include <QPainter>
#include <QThread>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace strato {
namespace {

using namespace std::chrono_literals;

// Qt paints large areas with threads of its own and waits for them. However many jobs go on, they
// are not in its way.
TEST(LatestJob, PaintingDoesNotWaitForIt) {
  std::mutex mutex;
  std::condition_variable_any changed;
  bool open = false;
  const auto open_gate = [&] {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  };
  std::vector<std::unique_ptr<LatestJob<int>>> jobs;
  int shown = 0;
  const int count = 4 * QThread::idealThreadCount();
  for (int i = 0; i < count; ++i) {
    jobs.push_back(std::make_unique<LatestJob<int>>([&](int) { ++shown; }));
    jobs.back()->ask(
        [&] {
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return open; });
          return 1;
        },
        false);
  }
  std::atomic<bool> waited = false;
  std::jthread rescue([&](const std::stop_token& stop) {  // a failure is no hang
    std::unique_lock lock(mutex);
    if (changed.wait_for(lock, stop, 20s, [&] { return open; }) || stop.stop_requested()) return;
    waited = true;
    open = true;
    changed.notify_all();
  });
  QImage image(2000, 2000, QImage::Format_ARGB32);
  image.fill(Qt::white);
  const QImage rounded = image.convertToFormat(QImage::Format_ARGB32_Premultiplied);
  QImage target(2000, 2000, QImage::Format_ARGB32_Premultiplied);
  QPainter painter(&target);
  QLinearGradient gradient(0, 0, 2000, 2000);
  gradient.setColorAt(1, Qt::red);
  painter.fillRect(target.rect(), gradient);
  painter.setOpacity(0.5);
  painter.drawImage(0, 0, rounded);
  painter.end();
  EXPECT_FALSE(waited);
  open_gate();
  while (shown < count) QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, 50);
}

}  // namespace
}  // namespace strato
