// The lives of ranks that were admitted.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>
#include <utility>

#include "plugins/transports/meeting/admission.h"

namespace strato::admission {
namespace {

constexpr char kLost = 'L', kSilent = 'S', kLeft = 'B', kAlive = 'A';
constexpr auto kSendTime = std::chrono::seconds(1);
constexpr auto kNewsTime = std::chrono::milliseconds(500);
constexpr int kSignsInSilence = 8;  // so often a rank speaks in the time after which it is missed

using Notice = std::array<char, 1 + sizeof(std::int32_t)>;

Notice notice_of(char what, std::int32_t rank) {
  Notice notice{what};
  std::memcpy(notice.data() + 1, &rank, sizeof rank);
  return notice;
}

}  // namespace

// Rank 0 speaks first where two cannot reach each other: it knows who else is there.
Watch::Watch(const Meeting& meeting, std::vector<Socket> connections)
    : rank_(meeting.rank),
      silence_(meeting.rank == 0 ? meeting.silence : meeting.silence * 5 / 4),
      beaten_(Clock::now()) {
  const auto begun = beaten_ + std::min(meeting.connect, meeting.timeout);
  for (std::size_t i = 0; i < connections.size(); ++i) {
    if (!connections[i].is_open()) continue;
    peers_.push_back({rank_ == 0 ? static_cast<int>(i) : 0, std::move(connections[i]), begun});
  }
  thread_ = std::thread([this] { run(); });
}

Watch::~Watch() {
  stop_ = true;
  wake_.write.close();  // the other end becomes readable
  thread_.join();
}

std::optional<LostRank> Watch::lost(std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, patience, [this] { return lost_.has_value(); });
  return lost_;
}

void Watch::leave(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (rank_ != 0) tell_all(kLeft, rank_);
  news_.wait_for(lock, patience, [this] { return lost_ || all_left(); });
  if (rank_ == 0) tell_all(kLeft, rank_);
}

// Rank 0 is the last to leave.
bool Watch::all_left() const {
  return std::ranges::all_of(peers_, [](const Peer& peer) { return peer.left || peer.gone; });
}

void Watch::run() {
  beat();
  while (!stop_) {
    std::vector<int> watched = {wake_.read.get()};
    for (const Peer& peer : peers_) {
      if (!peer.gone) watched.push_back(peer.socket.descriptor());
    }
    try {
      wait_readable(watched, beaten_ + silence_ / kSignsInSilence);
    } catch (const std::system_error&) {
      return;
    }
    for (Peer& peer : peers_) {
      if (!peer.gone && !stop_) hear(peer);
    }
    if (!stop_ && Clock::now() >= beaten_ + silence_ / kSignsInSilence) beat();
  }
}

// A rank that slept itself (all ranks were suspended together) has heard nobody, and blames nobody.
void Watch::beat() {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  const bool slept = now - beaten_ > silence_ / 2;
  beaten_ = now;
  tell_all(kAlive, rank_);
  for (Peer& peer : peers_) {
    if (slept) peer.heard = std::max(peer.heard, now);
    if (!peer.gone && !peer.left && now - peer.heard > silence_) lose(peer.rank, true);
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
    note(peer, notice[0], rank);
  } catch (const std::system_error&) {
    const std::lock_guard lock(mutex_);
    peer.gone = true;
    if (!peer.left) lose(peer.rank, false);
    news_.notify_all();
  }
}

void Watch::note(Peer& peer, char what, int rank) {
  const std::lock_guard lock(mutex_);
  peer.heard = Clock::now();
  if (what == kLeft) peer.left = true;
  if (what == kLost || what == kSilent) lose(rank, what == kSilent);
  news_.notify_all();
}

// The first one is the cause, or nearest to it. What rank 0 knows all others learn.
void Watch::lose(int rank, bool silent) {
  if (lost_) return;
  lost_ = {rank,
           silent
               ? fmt::format("gives no sign of life for {:.3g} s: its process is stopped, or its "
                             "machine cannot be reached",
                             std::chrono::duration<double>(silence_).count())
               : "is lost: its connection broke",
           silent};
  if (rank_ == 0) tell_all(silent ? kSilent : kLost, rank);
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

void throw_failure(const Meeting& meeting, const Watch& watch, std::span<const int> others) {
  if (const auto lost = watch.lost(kNewsTime)) refuse_rank(meeting, lost->rank, lost->problem);
  std::vector<int> peers(others.begin(), others.end());
  std::erase(peers, meeting.rank);
  refuse(meeting,
         fmt::format("rank {} does not answer within {} s", fmt::join(peers, ", "),
                     std::chrono::duration<double>(meeting.patience()).count()),
         "see the logs of those ranks");
}

}  // namespace strato::admission
