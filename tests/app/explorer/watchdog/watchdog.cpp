#include "tests/app/explorer/watchdog/watchdog.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <QElapsedTimer>
#include <QEvent>
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <string>
#include <utility>

#include "tests/paths.h"

namespace strato {
namespace {

using std::chrono::nanoseconds;

nanoseconds read_clock(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
}

}  // namespace

bool TimedApplication::notify(QObject* receiver, QEvent* event) {
  if (depth_ > 0) return QApplication::notify(receiver, event);
  const char* name = receiver->metaObject()->className();  // it may be gone afterwards
  const int type = event->type();
  const nanoseconds begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  ++depth_;
  const bool taken = QApplication::notify(receiver, event);
  --depth_;
  const nanoseconds took = read_clock(CLOCK_THREAD_CPUTIME_ID) - begin;
  if (took > longest_) {
    longest_ = took;
    receiver_ = name;
    type_ = type;
  }
  return taken;
}

QString TimedApplication::longest_event() const {
  return QStringLiteral("%1 ms of its own in event %2 of %3")
      .arg(longest_ms(), 0, 'f', 1)
      .arg(type_)
      .arg(QString::fromLatin1(receiver_));
}

Watchdog::Watchdog() {
  const auto path = "/proc/self/task/" + std::to_string(syscall(SYS_gettid)) + "/schedstat";
  schedule_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  thread_ = std::jthread([this](std::stop_token stop) { ask(std::move(stop)); });
}

Watchdog::~Watchdog() {
  thread_.request_stop();
  changed_.notify_all();
  thread_.join();
  if (schedule_ >= 0) close(schedule_);
}

Watchdog::Moment Watchdog::now() const {
  Moment moment{read_clock(CLOCK_MONOTONIC), {}};
  std::array<char, 128> text{};
  long long ran = 0, waited = 0;
  if (schedule_ >= 0 && pread(schedule_, text.data(), text.size() - 1, 0) > 0 &&
      std::sscanf(text.data(), "%lld %lld", &ran, &waited) == 2) {
    moment.delayed = nanoseconds(waited);
  }
  return moment;
}

void Watchdog::ask(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    asked_ = true;
    QMetaObject::invokeMethod(
        &target_, [this, asked = now()] { answer(asked); }, Qt::QueuedConnection);
    changed_.wait(lock, stop, [this] { return !asked_; });
    // As a hand would: not without pause.
    changed_.wait_for(lock, stop, std::chrono::milliseconds(2), [] { return false; });
  }
}

void Watchdog::answer(const Moment& asked) {
  const Moment then = now();
  const nanoseconds took = then.wall - asked.wall - (then.delayed - asked.delayed);
  longest_ = std::max(longest_, took);
  ++answers_;
  {
    const std::lock_guard lock(mutex_);
    asked_ = false;
  }
  changed_.notify_all();
}

double Watchdog::longest_ms() {
  const std::size_t before = answers_;
  run_until([&] { return answers_ > before + 1; });
  return static_cast<double>(std::exchange(longest_, {}).count()) / 1e6;
}

bool run_until(const std::function<bool()>& holds, double seconds) {
  QElapsedTimer timer;
  timer.start();
  while (!holds()) {
    if (static_cast<double>(timer.elapsed()) > seconds * 1000) return false;
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
  }
  return true;
}

}  // namespace strato

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  qputenv("STRATOSCOPE_HOME", strato::kBuildFolder);
  ::testing::InitGoogleTest(&argc, argv);
  strato::TimedApplication app(argc, argv);
  return RUN_ALL_TESTS();
}
