// A TCP connection that sends and receives whole messages, each before a deadline. Failures of the
// network are std::system_error; who is at the other end is for the caller to say.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/launch/process/process.h"

namespace strato::admission {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : handle_(descriptor) {}

  bool is_open() const { return handle_.open(); }
  int descriptor() const { return handle_.get(); }
  std::string local_address() const;  // "192.0.2.1"

  void send(std::span<const char> bytes, Deadline deadline) const;
  void receive(std::span<char> bytes, Deadline deadline) const;  // all of them
  // Receives what is there by now, at most so much; 0: nothing yet. Throws when the other end has
  // closed.
  std::size_t receive_some(std::span<char> bytes) const;
  // Its size goes first.
  void send_text(const std::string& text, Deadline deadline) const;
  std::string receive_text(std::size_t most, Deadline deadline) const;

 private:
  Handle handle_;
};

// A list of texts as one, each after its size. unpacked() throws std::system_error when it
// ends early.
std::string packed(const std::vector<std::string>& texts);
std::vector<std::string> unpacked(const std::string& all);

// Listens on this address only. Port 0: any free one.
Socket listen_on(const std::string& address, std::uint16_t port);
Socket accept_from(const Socket& listener);  // not open: nobody waits
// Tries again until the deadline: the other process may not listen yet.
Socket connect_to(const std::string& host, std::uint16_t port, const std::string& from,
                  Deadline deadline);
// Waits until one of the descriptors can be read; false: the deadline passed.
bool wait_readable(std::span<const int> descriptors, Deadline deadline);

}  // namespace strato::admission
