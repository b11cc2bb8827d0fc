// Every operation beside plain sums and copies, among processes.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/base/error.h"
#include "tests/plugins/transports/gloo/rank_processes.h"

namespace strato {
namespace {

using Bytespan = std::span<std::byte>;

template <class T>
Bytespan bytes_of(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

// What rank `rank` holds at `i`: small integers, so that sums are exact in every type.
template <class T>
std::vector<T> term(int rank, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>((i % 5) + 2 * rank + 1);
  return values;
}

template <class T>
std::vector<T> sum_of_terms(const std::vector<int>& members, std::size_t count) {
  std::vector<T> total(count);
  for (const int rank : members) {
    const auto values = term<T>(rank, count);
    for (std::size_t i = 0; i < count; ++i) total[i] = static_cast<T>(total[i] + values[i]);
  }
  return total;
}

bool has(const std::vector<int>& members, int rank) {
  return std::find(members.begin(), members.end(), rank) != members.end();
}

TEST(Gloo, TransfersMeetByTheirTags) {
  RankProcesses ranks(2);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    auto large = term<float>(meeting.rank, 1 << 20);
    auto small = term<std::int64_t>(meeting.rank, 3);
    const int other = 1 - meeting.rank;
    auto large_here = std::vector<float>(large.size());
    auto small_here = std::vector<std::int64_t>(small.size());
    // Both ways at once, and each side in another order.
    std::vector<std::unique_ptr<Pending>> pending;
    if (meeting.rank == 0) {
      pending.push_back(transport->send(other, 7, bytes_of(large)));
      pending.push_back(transport->send(other, 8, bytes_of(small)));
      pending.push_back(transport->receive(other, 7, bytes_of(large_here)));
      pending.push_back(transport->receive(other, 8, bytes_of(small_here)));
    } else {
      pending.push_back(transport->receive(other, 8, bytes_of(small_here)));
      pending.push_back(transport->send(other, 8, bytes_of(small)));
      pending.push_back(transport->receive(other, 7, bytes_of(large_here)));
      pending.push_back(transport->send(other, 7, bytes_of(large)));
    }
    for (const auto& each : pending) each->wait();
    EXPECT_EQ(large_here, term<float>(other, large.size()));
    EXPECT_EQ(small_here, term<std::int64_t>(other, small.size()));
  });
  ranks.join();
}

TEST(Gloo, TransfersOfOneTagArriveInTheirOrder) {
  RankProcesses ranks(2);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    std::vector<std::int64_t> values(200);
    std::vector<std::unique_ptr<Pending>> pending;
    if (meeting.rank == 0) std::iota(values.begin(), values.end(), 1);
    for (std::int64_t& value : values) {
      const auto bytes = std::as_writable_bytes(std::span(&value, 1));
      pending.push_back(meeting.rank == 0 ? transport->send(1, 3, bytes)
                                          : transport->receive(0, 3, bytes));
    }
    for (const auto& each : pending) each->wait();
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(values[i], static_cast<std::int64_t>(i + 1));
    }
  });
  ranks.join();
}

template <class T>
void reduce_in_groups(Transport& transport, int rank, DataType type) {
  std::uint32_t tag = 100 * static_cast<std::uint32_t>(type);
  const std::vector<std::vector<int>> groups = {{0, 1, 2, 3}, {0, 2}, {1, 2, 3}, {0, 3}, {1}};
  for (const std::vector<int>& members : groups) {
    for (const std::size_t count : {1, 7, 1000}) {
      ++tag;
      if (!has(members, rank)) continue;
      auto values = term<T>(rank, count), more = term<T>(rank, 3);
      std::vector<T> none;
      transport.all_reduce(members, tag, type, {bytes_of(values), bytes_of(none), bytes_of(more)})
          ->wait();
      EXPECT_EQ(values, sum_of_terms<T>(members, count)) << name_of(type);
      EXPECT_EQ(more, sum_of_terms<T>(members, 3)) << name_of(type);
    }
  }
}

TEST(Gloo, ReducesEveryTypeInEveryGroup) {
  RankProcesses ranks(4);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    reduce_in_groups<double>(*transport, meeting.rank, DataType::F64);
    reduce_in_groups<float>(*transport, meeting.rank, DataType::F32);
    reduce_in_groups<std::int64_t>(*transport, meeting.rank, DataType::I64);
    reduce_in_groups<std::int32_t>(*transport, meeting.rank, DataType::I32);
    reduce_in_groups<std::int16_t>(*transport, meeting.rank, DataType::I16);
    reduce_in_groups<std::int8_t>(*transport, meeting.rank, DataType::I8);
    reduce_in_groups<std::uint8_t>(*transport, meeting.rank, DataType::U8);
  });
  ranks.join();
}

// One and a half, two and a half, four: exact in both halves.
// The bits of a sum tell in which order its terms were added. The sum of member p's part begins at
// the member after it, goes from each to the next one, and ends there.
std::vector<float> added_around(const std::vector<int>& ring,
                                const std::vector<std::vector<float>>& terms) {
  const std::size_t elements = terms[0].size(), n = ring.size();
  std::vector<float> sums;
  for (std::size_t p = 0; p < n; ++p) {
    for (std::size_t e = elements * p / n; e < elements * (p + 1) / n; ++e) {
      const auto term = [&](std::size_t places) {
        return terms[static_cast<std::size_t>(ring[(p + places) % n])][e];
      };
      float sum = term(1);
      for (std::size_t places = 2; places <= n; ++places) sum = term(places) + sum;
      sums.push_back(sum);
    }
  }
  return sums;
}

TEST(Gloo, ReducesAroundTheRingThatIsGiven) {
  std::vector<std::vector<float>> terms(4, std::vector<float>(37));
  std::mt19937 random(3);
  std::uniform_real_distribution<float> any(-1, 1);
  for (std::vector<float>& of : terms)
    for (float& each : of) each = std::ldexp(any(random), static_cast<int>(random() % 20));
  const std::vector<std::vector<int>> rings = {{1, 2, 3, 0}, {2, 1, 3, 0}, {3, 2, 1, 0},
                                               {1, 3, 2, 0}, {3, 1, 0},    {2, 0}};
  for (std::size_t i = 0; i + 3 < rings.size(); ++i)
    ASSERT_NE(added_around(rings[i], terms), added_around(rings[i + 1], terms)) << i;
  RankProcesses ranks(4);
  ranks.start_all([&](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    for (std::size_t i = 0; i < rings.size(); ++i) {
      if (std::ranges::find(rings[i], meeting.rank) == rings[i].end()) continue;
      const std::vector<float> expected = added_around(rings[i], terms);
      for (const bool fused : {false, true}) {
        std::vector<float> own = terms[static_cast<std::size_t>(meeting.rank)];
        const auto all = std::as_writable_bytes(std::span(own));
        std::vector<std::span<std::byte>> values = {all};
        if (fused) values = {all.first(40), all.subspan(40)};
        transport
            ->all_reduce(rings[i], static_cast<std::uint32_t>(2 * i + fused), DataType::F32, values)
            ->wait();
        EXPECT_EQ(own, expected) << "ring " << i << ", rank " << meeting.rank;
      }
      float one = 1;  // fewer elements than members
      transport
          ->all_reduce(rings[i], static_cast<std::uint32_t>(100 + i), DataType::F32,
                       {std::as_writable_bytes(std::span(&one, 1))})
          ->wait();
      EXPECT_EQ(one, static_cast<float>(rings[i].size()));
    }
    transport->barrier();
  });
  ranks.join();
}

// What each brings in stands where the order says, whatever the order.
TEST(Gloo, GathersAroundTheRingThatIsGiven) {
  RankProcesses ranks(3);
  ranks.start_all([&](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    const std::vector<int> ring = {2, 1, 0};
    std::vector<std::vector<std::byte>> pieces;
    for (const int member : ring)
      pieces.emplace_back(static_cast<std::size_t>(3 + member),
                          std::byte(member == meeting.rank ? 10 + member : 0));
    transport->all_gather(ring, 1, {pieces.begin(), pieces.end()})->wait();
    for (std::size_t i = 0; i < ring.size(); ++i)
      EXPECT_EQ(pieces[i], std::vector<std::byte>(pieces[i].size(), std::byte(10 + ring[i])));
    transport->barrier();
  });
  ranks.join();
}

TEST(Gloo, AddsHalvesAsNumbers) {
  RankProcesses ranks(2);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    std::vector<std::uint16_t> half(5, meeting.rank == 0 ? 0x3e00 : 0x4100);
    std::vector<std::uint16_t> brain(5, meeting.rank == 0 ? 0x3fc0 : 0x4020);
    const std::vector<int> both = {0, 1};
    transport->all_reduce(both, 1, DataType::F16, {bytes_of(half)})->wait();
    transport->all_reduce(both, 2, DataType::BF16, {bytes_of(brain)})->wait();
    EXPECT_EQ(half, std::vector<std::uint16_t>(5, 0x4400));
    EXPECT_EQ(brain, std::vector<std::uint16_t>(5, 0x4080));
    std::vector<std::uint8_t> flags(4, 1);
    EXPECT_THROW(transport->all_reduce(both, 3, DataType::Bool, {bytes_of(flags)}), InputError);
  });
  ranks.join();
}

TEST(Gloo, GathersUnevenPieces) {
  RankProcesses ranks(4);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    const std::vector<int> members = {0, 2, 3};
    if (!has(members, meeting.rank)) return;
    const std::size_t sizes[] = {5, 0, 100'000};
    std::vector<std::vector<float>> pieces;
    std::vector<Bytespan> spans;
    for (std::size_t i = 0; i < members.size(); ++i) {
      pieces.push_back(members[i] == meeting.rank ? term<float>(members[i], sizes[i])
                                                  : std::vector<float>(sizes[i]));
    }
    for (auto& piece : pieces) spans.push_back(bytes_of(piece));
    transport->all_gather(members, 9, spans)->wait();
    for (std::size_t i = 0; i < members.size(); ++i) {
      EXPECT_EQ(pieces[i], term<float>(members[i], sizes[i]));
    }
  });
  ranks.join();
}

TEST(Gloo, ScattersUnevenSums) {
  RankProcesses ranks(3);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    const std::vector<int> members = {0, 1, 2};
    const std::size_t sizes[] = {3, 50'000, 0};
    std::vector<std::vector<double>> pieces;
    std::vector<Bytespan> spans;
    for (const std::size_t size : sizes) pieces.push_back(term<double>(meeting.rank, size));
    for (auto& piece : pieces) spans.push_back(bytes_of(piece));
    transport->reduce_scatter(members, 4, DataType::F64, spans)->wait();
    const auto own = static_cast<std::size_t>(meeting.rank);
    EXPECT_EQ(pieces[own], sum_of_terms<double>(members, sizes[own]));
  });
  ranks.join();
}

// From member f to member t 1000 f + t, of sizes that no two pairs have in common; one is empty.
TEST(Gloo, SwapsUnevenPieces) {
  RankProcesses ranks(4);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    const std::vector<int> members = {0, 2, 3};
    if (meeting.rank == 1) return;
    const auto piece = [](int from, int to, bool filled) {
      const std::size_t size =
          from == 3 && to == 0 ? 0 : static_cast<std::size_t>(1 + 9'000 * from + to);
      return std::vector<double>(size, filled ? 1000.0 * from + to : 0);
    };
    std::vector<std::vector<double>> sent, received;
    for (const int member : members) {
      sent.push_back(piece(meeting.rank, member, true));
      received.push_back(piece(member, meeting.rank, member == meeting.rank));
    }
    std::vector<Bytespan> going, coming;
    for (auto& each : sent) going.push_back(bytes_of(each));
    for (auto& each : received) coming.push_back(bytes_of(each));
    transport->all_to_all(members, 5, going, coming)->wait();
    for (std::size_t i = 0; i < members.size(); ++i)
      EXPECT_EQ(received[i], piece(members[i], meeting.rank, true));
  });
  ranks.join();
}

// As a step does: everything is issued before anything is waited for.
TEST(Gloo, ManyOperationsAreUnderWayAtOnce) {
  RankProcesses ranks(4);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    const std::vector<int> all = {0, 1, 2, 3};
    const int rank = meeting.rank, next = (rank + 1) % 4, before = (rank + 3) % 4;
    for (int step = 0; step < 5; ++step) {
      std::vector<std::vector<double>> sums, sent, got;
      for (int i = 0; i < 20; ++i) {
        sums.push_back(term<double>(rank, 300));
        sent.push_back(term<double>(rank + i, 200));
        got.emplace_back(200);
      }
      std::vector<std::unique_ptr<Pending>> pending;
      for (std::uint32_t i = 0; i < 20; ++i) {
        pending.push_back(transport->receive(before, 1000 + i, bytes_of(got[i])));
        pending.push_back(transport->all_reduce(all, i, DataType::F64, {bytes_of(sums[i])}));
        pending.push_back(transport->send(next, 1000 + i, bytes_of(sent[i])));
      }
      for (const auto& each : pending) each->wait();
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(sums[static_cast<std::size_t>(i)], sum_of_terms<double>(all, 300));
        EXPECT_EQ(got[static_cast<std::size_t>(i)], term<double>(before + i, 200));
      }
    }
  });
  ranks.join();
}

// Each of two ranks begins with what the other comes to last, of the same members.
TEST(Gloo, StreamsDoNotWaitForEachOther) {
  RankProcesses ranks(2);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    const std::vector<int> both = {0, 1};
    std::vector<double> sums[2] = {term<double>(meeting.rank, 300),
                                   term<double>(5 + meeting.rank, 300)};
    std::vector<std::byte> none;
    const auto reduce = [&](int i) {
      const Stream stream = i == 0 ? Stream::Communication : Stream::TensorCommunication;
      return transport->all_reduce(Members(both, stream), static_cast<std::uint32_t>(i),
                                   DataType::F64, {bytes_of(sums[i])});
    };
    const auto first = reduce(meeting.rank), second = reduce(1 - meeting.rank);
    first->wait();
    second->wait();
    EXPECT_EQ(sums[0], sum_of_terms<double>(both, 300));
    EXPECT_EQ(sums[1], sum_of_terms<double>({5, 6}, 300));
  });
  ranks.join();
}

TEST(Gloo, GathersTextsAtRank0) {
  RankProcesses ranks(3);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    transport->barrier();
    for (const std::size_t size : {0, 1, 1 << 20}) {
      const auto text_of = [size](int rank) {
        return std::string(size * static_cast<std::size_t>(rank), static_cast<char>('a' + rank));
      };
      const auto texts = transport->gather(text_of(meeting.rank));
      if (meeting.rank != 0) {
        EXPECT_TRUE(texts.empty());
        continue;
      }
      ASSERT_EQ(texts.size(), 3U);
      for (int rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(texts[static_cast<std::size_t>(rank)], text_of(rank));
      }
    }
    transport->barrier();
  });
  ranks.join();
}

TEST(Gloo, OneRankNeedsNobody) {
  RankProcesses ranks(1);
  ranks.start_all([](const Meeting& meeting) {
    const auto transport = gloo_transport(meeting);
    const std::vector<int> self = {0};
    auto values = term<float>(0, 4);
    transport->all_reduce(self, 1, DataType::F32, {bytes_of(values)})->wait();
    EXPECT_EQ(values, term<float>(0, 4));
    transport->barrier();
    EXPECT_EQ(transport->gather("text"), std::vector<std::string>{"text"});
  });
  ranks.join();
}

}  // namespace
}  // namespace strato
