#include "app/cli/interrupt.h"

#include <unistd.h>

#include <chrono>

namespace strato::cli {

void Interrupt::watch(const std::stop_token& end) {
  while (!end.stop_requested()) {
    const int signal = EndSignals::wait(std::chrono::milliseconds(50));
    if (signal == 0) continue;
    if (!armed_ || !stop_.request_stop()) ::_exit(EndSignals::kKilledBy + signal);
  }
}

Interrupt::Interrupt() {
  watcher_ = std::jthread([this](const std::stop_token& end) { watch(end); });
}

Interrupt::~Interrupt() {
  watcher_.request_stop();
  watcher_.join();
}

}  // namespace strato::cli
