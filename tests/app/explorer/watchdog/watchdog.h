// How long the event loop of a thread takes to answer, while it is watched; and which event was the
// longest. What the thread waited for a processor is not counted: on a busy machine that says
// nothing about the program.
#pragma once

#include <QApplication>
#include <QObject>
#include <QString>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace strato {

// Tells the longest event that was handled, by what received it.
class TimedApplication : public QApplication {
 public:
  TimedApplication(int& argc, char** argv) : QApplication(argc, argv) {}
  bool notify(QObject* receiver, QEvent* event) override;
  double longest_ms() const { return static_cast<double>(longest_.count()) / 1e6; }
  QString longest_event() const;
  void forget() { longest_ = {}; }

 private:
  std::chrono::nanoseconds longest_{};
  const char* receiver_ = "";
  int type_ = 0, depth_ = 0;
};

// Asks the thread that made it again and again from a thread of its own.
class Watchdog {
 public:
  Watchdog();
  ~Watchdog();
  // Since the last call, in milliseconds. Runs the event loop until the last question is answered.
  double longest_ms();
  std::size_t answers() const { return answers_; }

 private:
  struct Moment {
    std::chrono::nanoseconds wall, delayed;  // delayed: ready to run, but without a processor
  };
  Moment now() const;
  void ask(std::stop_token stop);
  void answer(const Moment& asked);

  QObject target_;     // of the thread that is watched
  int schedule_ = -1;  // its schedstat; -1: this system has none
  std::chrono::nanoseconds longest_{};
  std::size_t answers_ = 0;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool asked_ = false;
  std::jthread thread_;
};

// Runs the event loop until it holds; false after a minute.
bool run_until(const std::function<bool()>& holds, double seconds = 60);

}  // namespace strato
