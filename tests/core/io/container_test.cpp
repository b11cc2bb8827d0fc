// Containers: values come back as they were, and nothing else is read.
#include "core/io/container.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/base/error.h"
#include "core/io/byte_io.h"
#include "tests/core/io/forged_container.h"
#include "tests/message_of.h"

namespace strato {
namespace {

constexpr ContainerKind kThing{"stratoscope-thing", 2, "the thing", "make it again"};

enum class Wide : std::uint64_t {};

Json value() {
  return {{"name", "a\xff"},
          {"list", {1, -2, 0.1, 1e300, true, nullptr}},
          {"large", std::uint64_t(-1)},
          {"floats", packed(std::vector<float>{1.5f, -2.0f, 3.0f})},
          {"none", packed(std::vector<double>())}};
}

std::string error_of(const std::string& bytes) {
  return message_of([&] { read_container(bytes, kThing, "f"); });
}

TEST(Container, ValuesComeBack) {
  const std::string bytes = write_container(kThing, value());
  EXPECT_TRUE(is_container(bytes));
  const Contained read = read_container(bytes, kThing, "f");
  EXPECT_EQ(read.version, 2u);
  EXPECT_EQ(read.value.json(), value());
  EXPECT_EQ(unpacked<float>(read.value.at("floats")), (std::vector<float>{1.5f, -2.0f, 3.0f}));
  EXPECT_TRUE(unpacked<double>(read.value.at("none")).empty());
  EXPECT_EQ(message_of([&] { unpacked<std::uint8_t>(read.value.at("name")); }),
            "f: name: is no list of packed numbers; write the file again");
  EXPECT_EQ(message_of([&] { unpacked<Wide>(read.value.at("floats")); }),
            "f: floats: has a number in part; write the file again");
}

TEST(Container, LargeValuesAreCompressed) {
  Json large = Json::array();
  for (int i = 0; i < 100'000; ++i) large.push_back(i % 100);
  const std::string bytes = write_container(kThing, large);
  EXPECT_LT(bytes.size(), 10'000u);
  EXPECT_EQ(read_container(bytes, kThing, "f").value.json(), large);
}

TEST(Container, OldVersionsAreToldApart) {
  ContainerKind old = kThing;
  old.version = 1;
  EXPECT_EQ(read_container(write_container(old, 7), kThing, "f").version, 1u);
}

TEST(Container, EveryFlippedBitIsNoticed) {
  const std::string bytes = write_container(kThing, value());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      EXPECT_NE(error_of(flipped), "no error") << at << " " << bit;
    }
  }
}

TEST(Container, EveryTruncationIsNoticed) {
  const std::string bytes = write_container(kThing, value());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(error_of(bytes.substr(0, size)), "no error") << size;
  EXPECT_EQ(error_of(bytes.substr(0, bytes.size() - 1)),
            "f: the thing is damaged: it ends too early; make it again");
  EXPECT_EQ(error_of(bytes + "x"),
            "f: the thing is damaged: it has bytes behind its end; make it again");
}

TEST(Container, OtherKindsAndNewerVersionsAreRefused) {
  ContainerKind other = kThing;
  other.name = "stratoscope-other";
  EXPECT_EQ(error_of(write_container(other, 1)),
            "f: holds a stratoscope-other, not the thing; make it again");
  ContainerKind newer = kThing;
  newer.version = 3;
  EXPECT_EQ(error_of(write_container(newer, 1)),
            "f: was written by a newer version of the program; update the program");
  EXPECT_EQ(error_of("{}"), "f: does not hold the thing, or is damaged; make it again");
  EXPECT_EQ(error_of(""), "f: does not hold the thing, or is damaged; make it again");
}

std::string forged(std::uint8_t codec, std::uint32_t version, std::string stored,
                   std::uint64_t size) {
  return ForgedContainer{kThing.name, codec, version, std::move(stored), size}.bytes();
}

TEST(Container, LiesAreRefusedThoughTheDigestIsRight) {
  EXPECT_EQ(error_of(forged(0, 1, "\x01", 1)), "no error");
  const auto damage = [](const std::string& how) {
    return "f: the thing is damaged: " + how + "; make it again";
  };
  EXPECT_EQ(error_of(forged(0, 0, "\x01", 1)), damage("it has no version"));
  EXPECT_EQ(error_of(forged(0, 1, "\x01", 2)), damage("its sizes differ"));
  EXPECT_EQ(error_of(forged(1, 1, compressed("\x01"), 2)), damage("it does not unfold"));
  EXPECT_EQ(error_of(forged(1, 1, "\x01", 1)), damage("it does not unfold"));
  EXPECT_EQ(error_of(forged(1, 1, compressed("\x01\x02\x03").substr(0, 10), 3)),
            damage("it does not unfold"));
  EXPECT_EQ(error_of(forged(2, 1, "\x01", 1)),
            "f: byte 2: the thing is damaged: a value is out of range; make it again");
}

TEST(Container, SizesAreLimitedBeforeMemoryIsTaken) {
  const std::string too_large = "f: the thing is damaged: it is too large; make it again";
  EXPECT_EQ(error_of(forged(1, 1, compressed("\x01"), std::uint64_t{1} << 60)), too_large);
  EXPECT_EQ(error_of(forged(0, 1, std::string(6 << 20, 'x'), std::uint64_t{5} << 30)), too_large);
  const std::string bomb = compressed(std::string(100 << 20, '\0'));
  EXPECT_EQ(error_of(forged(1, 1, bomb, 100 << 20)), too_large);
  // What the writer itself makes of such a value is read.
  const Json zeros = packed(std::vector<char>(20 << 20));
  EXPECT_EQ(read_container(write_container(kThing, zeros), kThing, "f").value.json(), zeros);
}

TEST(Container, WhatIsNoCborIsRefused) {
  const auto error = [](const std::string& cbor) {
    return error_of(forged(0, 1, cbor, cbor.size()));
  };
  const std::string no_cbor = "f: the thing is damaged: it is no CBOR; make it again";
  EXPECT_EQ(error("\x01\x01"), no_cbor);                                  // bytes behind its end
  EXPECT_EQ(error("\x9b\x0f\xff\xff\xff\xff\xff\xff\xff\x01"), no_cbor);  // a list's lie
  EXPECT_EQ(error("\x5b\x0f\xff\xff\xff\xff\xff\xff\xff\x01"), no_cbor);  // that of bytes
  EXPECT_EQ(error("\xc1\x01"), no_cbor);                                  // a tag
  EXPECT_EQ(error("\xa2\x61\x61\x01\x61\x61\x02"),
            "f: the thing is damaged: a is there more than once; make it again");
  EXPECT_EQ(error(std::string(1'000'000, '\x81')),
            "f: the thing is damaged: it is nested too deep; make it again");
}

// The library's reader calls itself for each piece, and says nothing of it to its handler.
TEST(Container, TextsInPiecesAreRefusedHoweverDeep) {
  for (const char* start : {"\x5f", "\x7f", "\x82\x01\x5f", "\xa1\x61\x61\x7f", "\xbf\x7f"}) {
    const std::string cbor = start + std::string(10'000'000, start[std::strlen(start) - 1]);
    EXPECT_EQ(error_of(forged(0, 1, cbor, cbor.size())),
              "f: the thing is damaged: it has a text in pieces; make it again");
  }
  // Bytes that look so are none.
  EXPECT_EQ(error_of(forged(0, 1, "\x44\x5f\x7f\x5f\x7f", 5)), "no error");
}

}  // namespace
}  // namespace strato
