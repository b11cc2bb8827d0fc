// Whoever reaches the port of rank 0, and is none of the job's: neither hears anything nor keeps
// the ranks apart, nor puts off the end of their patience.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <deque>

#include "tests/message_of.h"
#include "tests/plugins/transports/gloo/rank_processes.h"

namespace strato {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

sockaddr_in local(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

class Stranger {
 public:
  // Tries until somebody listens.
  explicit Stranger(std::uint16_t port) {
    const sockaddr_in address = local(port);
    for (;;) {
      socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
      if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
        return;
      ::close(socket_);
    }
  }
  ~Stranger() { ::close(socket_); }
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  void say(const std::string& bytes) const {
    ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // Everything until the other end closes.
  std::string hear() const {
    std::string all;
    std::array<char, 4096> bytes{};
    for (ssize_t got; (got = ::recv(socket_, bytes.data(), bytes.size(), 0)) > 0;)
      all.append(bytes.data(), static_cast<std::size_t>(got));
    return all;
  }

 private:
  int socket_ = -1;
};

template <class T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// As plugins/transports/meeting/admission.cpp says it.
std::string hello(std::int32_t rank, std::int32_t ranks, std::string secret, std::uint32_t size,
                  const std::string& magic = "stratog1") {
  secret.resize(256);
  return magic + raw(rank) + raw(ranks) + raw(size) + secret;
}

const std::string kSecret = "of this test";

std::string refusal(const std::string& text) { return raw(std::uint64_t{text.size()}) + text; }

void meet(const Meeting& meeting) { gloo_transport(meeting)->barrier(); }

// They say nothing, too little, or anything, and stay.
TEST(GlooStrangers, DoNotKeepTheRanksApart) {
  RankProcesses ranks(2);
  ranks.start(0, meet);
  std::deque<Stranger> strangers;
  for (std::size_t i = 0; i < 200; ++i) {
    strangers.emplace_back(ranks.meeting().port);
    strangers.back().say(std::string(i * 7, static_cast<char>(i)));
  }
  ranks.start(1, meet);
  ranks.join();
}

TEST(GlooStrangers, WithPartOfTheSecretHearNothingButThatItIsWrong) {
  RankProcesses ranks(2);
  ranks.start(0, meet);
  const auto size = static_cast<std::uint32_t>(kSecret.size());
  const std::string wrong = refusal("the secret is not this job's");
  for (const std::string& said :
       {hello(1, 2, kSecret.substr(0, 6), 6), hello(1, 2, kSecret.substr(0, 6), size),
        hello(1, 2, kSecret, 6), hello(1, 2, "", 0), hello(1, 2, kSecret, ~0u),
        hello(1, 2, kSecret + "x", size), hello(1, 2, kSecret, size, "stratog0"),
        hello(0, 2, "", size), hello(-1, 1 << 30, kSecret.substr(1), size)}) {
    const Stranger stranger(ranks.meeting().port);
    stranger.say(said);
    EXPECT_EQ(stranger.hear(), wrong);
  }
  const Stranger half(ranks.meeting().port);  // waits for the rest for ever
  half.say(hello(1, 2, kSecret, size).substr(0, 30));
  ranks.start(1, meet);
  ranks.join();
}

// One that never stops connecting, in a process of its own.
void flood(const Meeting& meeting) {
  std::deque<Stranger> strangers;
  for (;;) {
    if (strangers.size() >= 200) strangers.pop_front();
    strangers.emplace_back(meeting.port);
  }
}

TEST(GlooStrangers, AFloodDoesNotCrowdOutTheRanks) {
  RankProcesses ranks(4);
  ranks.start(3, flood);
  ranks.start(0, [](Meeting meeting) {
    meeting.ranks = 3;
    meet(meeting);
  });
  for (const int rank : {1, 2})
    ranks.start(rank, [](Meeting meeting) {
      meeting.ranks = 3;
      meet(meeting);
    });
  for (const int rank : {0, 1, 2}) ranks.join_only(rank);
}

TEST(GlooStrangers, AFloodDoesNotPutOffTheEnd) {
  RankProcesses ranks(3, 1000ms);
  ranks.start(2, flood);
  ranks.start(0, [](Meeting meeting) {
    meeting.ranks = 2;
    const auto start = Clock::now();
    const std::string message = message_of([&] { meet(meeting); });
    EXPECT_NE(message.find("rank 1 did not come within 1 s"), std::string::npos) << message;
    EXPECT_LT(Clock::now() - start, 3s);
  });
  ranks.join_only(0);
}

// ---- who knows the secret may still say nonsense

TEST(GlooStrangers, ALengthBeyondAllBoundsEndsTheMeeting) {
  RankProcesses ranks(2, 3000ms);
  ranks.start(0, [](const Meeting& meeting) {
    const std::string message = message_of([&] { meet(meeting); });
    EXPECT_NE(message.find("rank 1 is lost"), std::string::npos) << message;
  });
  const Stranger one(ranks.meeting().port);
  one.say(hello(1, 2, kSecret, static_cast<std::uint32_t>(kSecret.size())) +
          raw(~std::uint64_t{0} >> 1));
  ranks.join_only(0);
}

// A list of ports whose parts end beyond the whole.
TEST(GlooStrangers, AListThatIsCutOffEndsTheMeeting) {
  RankProcesses ranks(2, 3000ms);
  ranks.start(0, [](const Meeting& meeting) {
    const std::string message = message_of([&] { meet(meeting); });
    EXPECT_NE(message.find("cannot connect to all other ranks"), std::string::npos) << message;
  });
  const Stranger one(ranks.meeting().port);
  one.say(hello(1, 2, kSecret, static_cast<std::uint32_t>(kSecret.size())) +
          refusal(raw(std::uint64_t{1} << 40) + "short"));
  ranks.join_only(0);
}

// ---- one that only looks like rank 0

class Impostor {
 public:
  explicit Impostor(std::uint16_t port) : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const sockaddr_in address = local(port);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_, 8), 0);
  }
  ~Impostor() {
    ::close(peer_);
    ::close(listener_);
  }
  void answer(const std::string& bytes) {
    peer_ = ::accept(listener_, nullptr, nullptr);
    ::send(peer_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

 private:
  int listener_, peer_ = -1;
};

// It listens and says nothing: as a machine whose answers are dropped on the way.
TEST(GlooStrangers, ARank0ThatDoesNotAnswerIsNamedInTime) {
  RankProcesses ranks(2, 60s);
  const Impostor silent(ranks.meeting().port);
  ranks.start(1, [](Meeting meeting) {
    meeting.connect = 500ms;
    const auto start = Clock::now();
    const std::string message = message_of([&] { meet(meeting); });
    EXPECT_NE(message.find("rank 0 does not answer"), std::string::npos) << message;
    EXPECT_LT(Clock::now() - start, 5s);
  });
  ranks.join_only(1);
}

TEST(GlooStrangers, AFalseRank0IsNotFollowed) {
  for (const std::string& said : {raw(~std::uint64_t{0}), refusal("") + refusal("no tokens"),
                                  refusal("") + raw(~std::uint64_t{0} >> 1)}) {
    RankProcesses ranks(2, 1000ms);
    Impostor impostor(ranks.meeting().port);
    ranks.start(1, [](const Meeting& meeting) {
      const std::string message = message_of([&] { meet(meeting); });
      EXPECT_NE(message.find("rank 0 "), std::string::npos) << message;
    });
    impostor.answer(said);
    ranks.join_only(1);
  }
}

}  // namespace
}  // namespace strato
