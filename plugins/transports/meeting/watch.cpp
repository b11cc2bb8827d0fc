#include "plugins/transports/meeting/watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/base/error.h"

namespace strato::admission {
namespace {

constexpr char kLost = 'L', kLeft = 'B';
constexpr auto kSendTime = std::chrono::seconds(1);

using Notice = std::array<char, 1 + sizeof(std::int32_t)>;

Notice notice_of(char what, std::int32_t rank) {
  Notice notice{what};
  std::memcpy(notice.data() + 1, &rank, sizeof rank);
  return notice;
}

}  // namespace

Watch::Watch(int rank, std::vector<Socket> connections) : rank_(rank) {
  for (std::size_t i = 0; i < connections.size(); ++i) {
    if (!connections[i].is_open()) continue;
    peers_.push_back({rank == 0 ? static_cast<int>(i) : 0, std::move(connections[i])});
  }
  int ends[2];
  CHECK(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0, "the system has no more descriptors");
  wake_ = Socket(ends[0]);
  waker_ = Socket(ends[1]);
  thread_ = std::thread([this] { run(); });
}

Watch::~Watch() {
  stop_ = true;
  waker_ = Socket();  // the other end becomes readable
  thread_.join();
}

int Watch::lost(std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, patience, [this] { return lost_ >= 0; });
  return lost_;
}

void Watch::leave(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (rank_ != 0) tell_all(kLeft, rank_);
  news_.wait_for(lock, patience, [this] { return lost_ >= 0 || all_left(); });
  if (rank_ == 0) tell_all(kLeft, rank_);
}

// Rank 0 is the last to leave.
bool Watch::all_left() const {
  return std::all_of(peers_.begin(), peers_.end(),
                     [](const Peer& peer) { return peer.left || peer.gone; });
}

void Watch::run() {
  while (!stop_) {
    std::vector<int> watched = {wake_.descriptor()};
    for (const Peer& peer : peers_) {
      if (!peer.gone) watched.push_back(peer.socket.descriptor());
    }
    try {
      wait_readable(watched, Clock::now() + std::chrono::hours(1));
    } catch (const std::system_error&) {
      return;
    }
    for (Peer& peer : peers_) {
      if (!peer.gone && !stop_) hear(peer);
    }
  }
}

void Watch::hear(Peer& peer) {
  try {
    Notice notice;
    const std::size_t got = peer.socket.receive_some(notice);
    if (got == 0) return;
    peer.socket.receive(std::span(notice).subspan(got), Clock::now() + kSendTime);
    std::int32_t rank = 0;
    std::memcpy(&rank, notice.data() + 1, sizeof rank);
    if (notice[0] == kLost) return lose(rank);
    note_left(peer);
  } catch (const std::system_error&) {
    const std::lock_guard lock(mutex_);
    peer.gone = true;
    if (!peer.left && lost_ < 0) {
      lost_ = peer.rank;
      tell_all(kLost, lost_);
    }
    news_.notify_all();
  }
}

void Watch::note_left(Peer& peer) {
  const std::lock_guard lock(mutex_);
  peer.left = true;
  news_.notify_all();
}

void Watch::lose(int rank) {
  const std::lock_guard lock(mutex_);
  if (lost_ < 0) lost_ = rank;
  news_.notify_all();
}

void Watch::tell_all(char what, int rank) {
  const Notice notice = notice_of(what, rank);
  for (const Peer& peer : peers_) {
    if (peer.gone) continue;
    try {
      peer.socket.send(notice, Clock::now() + kSendTime);
    } catch (const std::system_error&) {  // its end is heard soon
    }
  }
}

}  // namespace strato::admission
