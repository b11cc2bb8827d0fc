#include "core/launch/process/end_signals.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <algorithm>

namespace strato {
namespace {

sigset_t end_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

}  // namespace

EndSignals::EndSignals() {
  const sigset_t signals = end_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

EndSignals::~EndSignals() {
  const sigset_t signals = end_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

int EndSignals::wait(std::chrono::milliseconds time) {
  const sigset_t signals = end_signals();
  const auto milliseconds = time.count();
  const timespec wait{milliseconds / 1000, milliseconds % 1000 * 1'000'000};
  return std::max(0, ::sigtimedwait(&signals, nullptr, &wait));
}

}  // namespace strato
