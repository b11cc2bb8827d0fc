#include "plugins/transports/meeting/admission.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <system_error>

namespace strato::admission {
namespace {

constexpr char kMagic[8] = {'s', 't', 'r', 'a', 't', 'o', 'g', '1'};
constexpr std::size_t kSecretSize = 256;  // on the wire, filled up with zeros
constexpr std::size_t kTokenSize = 32;
constexpr std::size_t kMostUnadmitted = 64;  // connections that have not said who they are yet
constexpr std::size_t kMostText = 1 << 24;
constexpr auto kAnotherTry = std::chrono::milliseconds(20);

struct Hello {
  char magic[8] = {};
  std::int32_t rank = 0, ranks = 0;
  std::uint32_t secret_size = 0;
  char secret[kSecretSize] = {};
};

Hello hello_of(const Meeting& meeting) {
  Hello hello;
  std::memcpy(hello.magic, kMagic, sizeof kMagic);
  hello.rank = meeting.rank;
  hello.ranks = meeting.ranks;
  hello.secret_size = static_cast<std::uint32_t>(meeting.secret.size());
  std::memcpy(hello.secret, meeting.secret.data(), meeting.secret.size());
  return hello;
}

std::string random_token() {
  std::string token(kTokenSize, '\0');
  CHECK(::getrandom(token.data(), token.size(), 0) == static_cast<ssize_t>(token.size()),
        "the system has no random numbers");
  return token;
}

// ---- rank 0

class Reception {
 public:
  explicit Reception(const Meeting& meeting)
      : meeting_(meeting), deadline_(Clock::now() + meeting.timeout), expected_(hello_of(meeting)) {
    admitted_.resize(static_cast<std::size_t>(meeting.ranks));
    try {
      listener_ =
          listen_on(meeting.interface.empty() ? meeting.host : meeting.interface, meeting.port);
    } catch (const std::system_error& error) {
      refuse(meeting,
             fmt::format("cannot listen on {}:{} ({})", meeting.host, meeting.port,
                         error.code().message()),
             "take another port, or the machine's own address");
    }
  }

  Roster receive_all() {
    while (!missing().empty()) {
      std::vector<int> watched = {listener_.descriptor()};
      for (const Unadmitted& each : unadmitted_) watched.push_back(each.socket.descriptor());
      if (Clock::now() >= deadline_ || !wait_readable(watched, deadline_)) give_up();
      let_in();
      listen_to_unadmitted();
    }
    return hand_out();
  }

 private:
  struct Unadmitted {
    Socket socket;
    std::string said;
  };

  std::vector<std::size_t> missing() const {
    std::vector<std::size_t> ranks;
    for (std::size_t i = 1; i < admitted_.size(); ++i) {
      if (!admitted_[i].is_open()) ranks.push_back(i);
    }
    return ranks;
  }

  [[noreturn]] void give_up() const {
    refuse(meeting_,
           fmt::format("rank {} did not come within {} s", fmt::join(missing(), ", "),
                       std::chrono::duration<double>(meeting_.timeout).count()),
           "see the logs of those ranks");
  }

  // Accepts not more than so many at a time: a flood must not prevent those who speak from being
  // heard.
  void let_in() {
    for (std::size_t i = 0; i < kMostUnadmitted; ++i) {
      Socket socket = accept_from(listener_);
      if (!socket.is_open()) return;
      if (unadmitted_.size() >= kMostUnadmitted) listen_to_unadmitted();
      if (unadmitted_.size() >= kMostUnadmitted) unadmitted_.pop_front();
      unadmitted_.push_back({std::move(socket), {}});
    }
  }

  void listen_to_unadmitted() {
    for (auto each = unadmitted_.begin(); each != unadmitted_.end();) {
      each = hear(*each) ? unadmitted_.erase(each) : std::next(each);
    }
  }

  // True: it has become a rank, or is to be gone.
  bool hear(Unadmitted& peer) {
    char bytes[sizeof(Hello)];
    try {
      const std::size_t most = sizeof(Hello) - peer.said.size();
      peer.said.append(bytes, peer.socket.receive_some({bytes, most}));
      if (peer.said.size() < sizeof(Hello)) return false;
      Hello hello;
      std::memcpy(&hello, peer.said.data(), sizeof hello);
      const std::string refusal = refusal_of(hello);
      peer.socket.send_text(refusal, deadline_);
      if (refusal.empty()) {
        admitted_[static_cast<std::size_t>(hello.rank)] = std::move(peer.socket);
      }
    } catch (const std::system_error&) {  // it has gone again
    }
    return true;
  }

  // The secret comes first: who does not know it learns nothing about the job.
  std::string refusal_of(const Hello& hello) const {
    const std::string ours(expected_.secret, kSecretSize), theirs(hello.secret, kSecretSize);
    const bool same_size = hello.secret_size == expected_.secret_size;
    if (!equal(ours, theirs) || !same_size ||
        !std::equal(std::begin(kMagic), std::end(kMagic), hello.magic)) {
      return "the secret is not this job's";
    }
    if (hello.ranks != meeting_.ranks) {
      return fmt::format("it counts {} ranks, rank 0 counts {}", hello.ranks, meeting_.ranks);
    }
    if (hello.rank < 1 || hello.rank >= meeting_.ranks) return "there is no such rank";
    if (admitted_[static_cast<std::size_t>(hello.rank)].is_open()) return "the rank is there twice";
    return {};
  }

  Roster hand_out() {
    const std::size_t ranks = admitted_.size();
    const std::vector<std::string> none(ranks, std::string(kTokenSize, '\0'));
    std::vector<std::vector<std::string>> tokens(ranks, none);
    for (std::size_t a = 0; a < ranks; ++a)
      for (std::size_t b = a + 1; b < ranks; ++b) tokens[a][b] = tokens[b][a] = random_token();
    for (std::size_t i = 1; i < ranks; ++i) {
      try {
        admitted_[i].send_text(fmt::format("{}", fmt::join(tokens[i], "")), deadline_);
      } catch (const std::system_error&) {
        refuse(meeting_, fmt::format("rank {} is lost", i), "see the log of that rank");
      }
    }
    return {listener_.local_address(), std::move(admitted_), std::move(tokens[0])};
  }

  const Meeting& meeting_;
  Deadline deadline_;
  Hello expected_;
  Socket listener_;
  std::vector<Socket> admitted_;
  std::list<Unadmitted> unadmitted_;
};

// ---- the others

// Rank 0's answer to the hello on `socket`: why it refuses this rank, if it does.
std::string present(const Meeting& meeting, Socket& socket, Deadline deadline) {
  const Hello hello = hello_of(meeting);
  for (;;) {
    try {
      socket = connect_to(meeting.host, meeting.port, meeting.interface, deadline);
      socket.send({reinterpret_cast<const char*>(&hello), sizeof hello}, deadline);
      return socket.receive_text(kMostText, deadline);
    } catch (const std::system_error&) {  // others may have crowded it out: once more
      if (Clock::now() + kAnotherTry >= deadline) throw;
    }
    std::this_thread::sleep_for(kAnotherTry);
  }
}

Roster report(const Meeting& meeting) {
  const Deadline start = Clock::now();
  std::string refusal, tokens;
  Roster roster;
  try {
    Socket socket;
    refusal = present(meeting, socket, start + std::min(meeting.connect, meeting.timeout));
    if (refusal.empty()) tokens = socket.receive_text(kMostText, start + 2 * meeting.timeout);
    roster.address = socket.local_address();
    roster.connections.push_back(std::move(socket));
  } catch (const std::system_error& error) {
    refuse(meeting,
           fmt::format("rank 0 does not answer at {}:{} ({})", meeting.host, meeting.port,
                       error.code().message()),
           "see the log of rank 0, and whether a firewall is between the machines");
  }
  if (!refusal.empty()) {
    refuse(meeting, fmt::format("rank 0 refuses it: {}", refusal),
           "start all ranks from the same job folder");
  }
  const auto ranks = static_cast<std::size_t>(meeting.ranks);
  if (tokens.size() != ranks * kTokenSize) {
    refuse(meeting, "rank 0 sends other tokens than for all ranks",
           "start all ranks from the same job folder and with the same program");
  }
  for (std::size_t i = 0; i < ranks; ++i) {
    roster.tokens.push_back(tokens.substr(i * kTokenSize, kTokenSize));
  }
  return roster;
}

}  // namespace

void refuse(const Meeting& meeting, const std::string& problem, const std::string& remedy) {
  throw InputError("", fmt::format("rank {} of {}", meeting.rank, meeting.ranks), problem, remedy);
}

void refuse_rank(const Meeting& meeting, int rank, const std::string& problem) {
  refuse(meeting, fmt::format("rank {} {}", rank, problem),
         fmt::format("see the log of rank {}", rank));
}

bool equal(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return difference == 0;
}

Roster admit(const Meeting& meeting) {
  if (meeting.rank < 0 || meeting.rank >= meeting.ranks) {
    refuse(meeting, "there is no such rank", "ranks count from 0");
  }
  if (meeting.secret.size() > kSecretSize) {
    refuse(meeting, "the secret is too long", fmt::format("take at most {} bytes", kSecretSize));
  }
  Roster roster = meeting.rank == 0 ? Reception(meeting).receive_all() : report(meeting);
  // Rank 0 may listen on all of its addresses: the others know one of them.
  for (const Socket& each : roster.connections)
    if (each.is_open()) roster.address = each.local_address();
  return roster;
}

std::vector<std::string> exchange(const Meeting& meeting, const Roster& roster,
                                  const std::string& own) {
  const Deadline deadline = Clock::now() + meeting.timeout;
  std::size_t rank = 0;
  try {
    if (meeting.rank != 0) {
      roster.connections[0].send_text(own, deadline);
      return unpacked(roster.connections[0].receive_text(kMostText, deadline));
    }
    std::vector<std::string> texts = {own};
    for (rank = 1; rank < roster.connections.size(); ++rank) {
      texts.push_back(roster.connections[rank].receive_text(kMostText, deadline));
    }
    for (rank = 1; rank < roster.connections.size(); ++rank) {
      roster.connections[rank].send_text(packed(texts), deadline);
    }
    return texts;
  } catch (const std::system_error&) {
    refuse_rank(meeting, static_cast<int>(rank), "is lost");
  }
}

std::vector<std::string> gather_texts(const Meeting& meeting, const std::string& own,
                                      const MoveBytes& move) {
  constexpr std::uint64_t kLongestText = std::uint64_t{1} << 32;  // bytes
  std::uint64_t size = own.size();
  std::string text = own;
  if (meeting.rank != 0) {
    move(0, std::as_writable_bytes(std::span(&size, 1)), true);
    move(0, std::as_writable_bytes(std::span(text)), true);
    return {};
  }
  std::vector<std::string> texts = {own};
  for (int rank = 1; rank < meeting.ranks; ++rank) {
    move(rank, std::as_writable_bytes(std::span(&size, 1)), false);
    CHECK(size < kLongestText, fmt::format("rank {} reports too much", rank));
    text.resize(size);
    move(rank, std::as_writable_bytes(std::span(text)), false);
    texts.push_back(text);
  }
  return texts;
}

}  // namespace strato::admission
