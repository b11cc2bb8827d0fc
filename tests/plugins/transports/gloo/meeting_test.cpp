// Who may take part, and what the others say when a rank is gone.
#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "tests/message_of.h"
#include "tests/plugins/transports/gloo/rank_processes.h"

namespace strato {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

void expect_contains(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

void reduce_forever(Transport& transport, std::vector<int> members) {
  std::vector<double> values(1000, 1);
  for (std::uint32_t i = 0;; ++i) {
    transport.all_reduce(members, i, DataType::F64, {std::as_writable_bytes(std::span(values))})
        ->wait();
  }
}

TEST(GlooMeeting, RefusesAnotherSecret) {
  RankProcesses ranks(2, 1500ms);
  ranks.start(0, [](const Meeting& meeting) {
    expect_contains(message_of([&] { gloo_transport(meeting); }), "rank 1 did not come");
  });
  ranks.start(1, [](Meeting meeting) {
    for (const std::string secret : {"of another test", "", "of this tesT", "of this test "}) {
      meeting.secret = secret;
      expect_contains(message_of([&] { gloo_transport(meeting); }), "the secret is not this job's");
    }
  });
  ranks.join();
}

TEST(GlooMeeting, RefusesARankThatIsThereOrIsNoRank) {
  RankProcesses ranks(2, 1500ms);
  ranks.start(0, [](const Meeting& meeting) {
    expect_contains(message_of([&] { gloo_transport(meeting); }), "rank 1 did not come");
  });
  ranks.start(1, [](Meeting meeting) {
    meeting.ranks = 3;
    expect_contains(message_of([&] { gloo_transport(meeting); }), "it counts 3 ranks");
    meeting.rank = 3;
    expect_contains(message_of([&] { gloo_transport(meeting); }), "there is no such rank");
  });
  ranks.join();
}

TEST(GlooMeeting, NamesTheRanksThatDoNotCome) {
  RankProcesses ranks(4, 1000ms);
  ranks.start(0, [](const Meeting& meeting) {
    expect_contains(message_of([&] { gloo_transport(meeting); }), "rank 1, 3 did not come");
  });
  ranks.start(2, [](const Meeting& meeting) {
    expect_contains(message_of([&] { gloo_transport(meeting); }), "rank 0 does not answer");
  });
  ranks.join();
}

TEST(GlooMeeting, NamesRank0WhenNobodyListens) {
  RankProcesses ranks(2, 300ms);
  ranks.start(1, [](const Meeting& meeting) {
    expect_contains(message_of([&] { gloo_transport(meeting); }), "rank 0 does not answer");
  });
  ranks.join();
}

TEST(GlooMeeting, NamesARankThatIsKilled) {
  for (const int victim : {0, 2}) {
    RankProcesses ranks(4);
    ranks.start_all([victim](const Meeting& meeting) {
      const auto transport = gloo_transport(meeting);
      transport->barrier();
      const auto start = Clock::now();
      if (meeting.rank == victim) ::raise(SIGKILL);
      const std::string message = message_of([&] { reduce_forever(*transport, {0, 1, 2, 3}); });
      expect_contains(message, "rank " + std::to_string(victim) + " is lost");
      EXPECT_LT(Clock::now() - start, 10s);
    });
    ranks.join({victim});
  }
}

TEST(GlooMeeting, NamesASenderThatIsKilled) {
  RankProcesses ranks(3);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    transport->barrier();
    if (meeting.rank == 1) ::raise(SIGKILL);
    std::vector<std::byte> bytes(100);
    expect_contains(message_of([&] { transport->receive(1, 5, bytes)->wait(); }), "rank 1 is lost");
  });
  ranks.join({1});
}

TEST(GlooMeeting, NamesARankThatHangs) {
  RankProcesses ranks(2, 1000ms);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    transport->barrier();
    if (meeting.rank == 1) ::raise(SIGSTOP);
    expect_contains(message_of([&] {
                      reduce_forever(*transport, {0, 1});
                    }),
                    "rank 1 does not answer within 1 s");
    ::_exit(testing::Test::HasFailure() ? 1 : 0);  // the other one never leaves
  });
  ranks.join_only(0);
}

// Only those that have met wait so much longer for each other: one that never comes is missed as
// soon as ever.
TEST(GlooMeeting, IsNotWaitedForWhileRanksMayBeIdle) {
  RankProcesses ranks(2, 400ms);
  ranks.start(0, [](Meeting meeting) {
    meeting.idle = 1h;
    expect_contains(message_of([&] { gloo_transport(meeting); }), "rank 1 did not come");
  });
  ranks.join();
}

TEST(GlooMeeting, IdleRanksAreWaitedForLonger) {
  RankProcesses ranks(2, 1000ms);
  ranks.start_all([](Meeting meeting) {
    meeting.idle = 1500ms;
    const auto transport = gloo_transport(meeting);
    transport->barrier();
    if (meeting.rank == 1) ::raise(SIGSTOP);
    expect_contains(message_of([&] {
                      reduce_forever(*transport, {0, 1});
                    }),
                    "rank 1 does not answer within 2.5 s");
    ::_exit(testing::Test::HasFailure() ? 1 : 0);  // the other one never leaves
  });
  ranks.join_only(0);
}

Meeting with_silence(Meeting meeting) {
  meeting.silence = 400ms;
  return meeting;
}

std::optional<LostRank> lost_within(const Transport& transport, std::chrono::milliseconds time) {
  for (const auto until = Clock::now() + time; Clock::now() < until;) {
    if (auto lost = transport.lost()) return lost;
  }
  return std::nullopt;
}

// Nobody waits for it: all compute.
TEST(GlooMeeting, MissesARankThatIsStopped) {
  for (const int victim : {0, 2}) {
    RankProcesses ranks(3);
    ranks.start_all([victim](const Meeting& meeting) {
      const auto transport = gloo_transport(with_silence(meeting));
      transport->barrier();
      EXPECT_FALSE(lost_within(*transport, 200ms));  // they speak by then
      if (meeting.rank == victim) ::raise(SIGSTOP);
      const auto lost = lost_within(*transport, 5s);
      ASSERT_TRUE(lost);
      EXPECT_EQ(lost->rank, victim);
      EXPECT_TRUE(lost->stopped);
      expect_contains(lost->problem, "gives no sign of life for 0.");
      ::_exit(testing::Test::HasFailure() ? 1 : 0);
    });
    for (const int rank : {0, 1, 2}) {
      if (rank != victim) ranks.join_only(rank);
    }
  }
}

TEST(GlooMeeting, DoesNotMissARankThatComputesForLong) {
  RankProcesses ranks(2);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(with_silence(meeting));
    transport->barrier();
    volatile std::uint64_t sum = 0;
    for (const auto until = Clock::now() + 1500ms; Clock::now() < until;) {
      for (std::uint64_t i = 0; i < 1'000'000; ++i) sum = sum + i;
    }
    EXPECT_FALSE(transport->lost());
    transport->barrier();
  });
  ranks.join();
}

// As a queue suspends a job for a more urgent one.
TEST(GlooMeeting, RanksThatWereAllSuspendedGoOn) {
  RankProcesses ranks(3);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(with_silence(meeting));
    transport->barrier();
    EXPECT_FALSE(lost_within(*transport, 200ms));
    ::raise(SIGSTOP);
    EXPECT_FALSE(lost_within(*transport, 1000ms));
    transport->barrier();
  });
  ranks.suspend_all_for(1s);
  ranks.join();
}

}  // namespace
}  // namespace strato
