#include "app/cli/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

namespace strato::cli {
namespace {

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

constexpr int kKilledBy = 128;  // what a shell reports for a program that a signal ended

}  // namespace

void Interrupt::watch(const std::stop_token& end) {
  const sigset_t signals = watched_signals();
  const timespec wait{0, 50'000'000};
  while (!end.stop_requested()) {
    const int signal = ::sigtimedwait(&signals, nullptr, &wait);
    if (signal <= 0) continue;
    if (!armed_ || !stop_.request_stop()) ::_exit(kKilledBy + signal);
  }
}

Interrupt::Interrupt() {
  const sigset_t signals = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  watcher_ = std::jthread([this](const std::stop_token& end) { watch(end); });
}

Interrupt::~Interrupt() {
  watcher_.request_stop();
  watcher_.join();
  const sigset_t signals = watched_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace strato::cli
