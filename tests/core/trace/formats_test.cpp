// Formats that are no text: Nsight Systems' SQLite, and Chakra's protobuf.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/trace/analyse/analysis.h"
#include "tests/core/trace/trace_kit.h"
#include "tests/message_of.h"

namespace strato::trace {
namespace {

void write_export(const std::filesystem::path& file) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  database.exec(
      "CREATE TABLE StringIds (id INTEGER, value TEXT);"
      "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'ncclDevKernel_AllReduce_Sum'), (3, "
      "'cudaLaunchKernel');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, \"end\" INTEGER, deviceId INTEGER, "
      "streamId INTEGER,"
      " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 3000, 0, 7, 5, 16777216, 1),"
      " (2000, 6000, 0, 8, 0, 16777216, 2), (1000, 2000, 1, 7, 0, 16777216, 1), (9, 3, 1, 7, 0, "
      "16777216, 1);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, \"end\" INTEGER, globalTid INTEGER,"
      " correlationId INTEGER, nameId INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (100, 200, 16777217, 5, 3);"
      "CREATE TABLE NVTX_EVENTS (start INTEGER, \"end\" INTEGER, globalTid INTEGER, text TEXT);"
      "INSERT INTO NVTX_EVENTS VALUES (0, 9000, 16777217, 'ProfilerStep#3');");
}

TEST(Nsight, KernelsByDevice) {
  const TemporaryFolder folder;
  write_export(folder / "report.db");
  EXPECT_EQ(recognise(folder / "report.db"), Format::NsightSystems);
  const TraceSet set = read_traces(folder / "report.db");
  ASSERT_EQ(set.traces.size(), 2u);
  const Analysis analysis = analyse(set.traces);
  EXPECT_EQ(analysis.ranks[0].breakdown.total, Nanos(5000));
  EXPECT_EQ(analysis.ranks[0].breakdown.exposed, Nanos(3000));
  EXPECT_EQ(analysis.ranks[0].steps.typical, Nanos(9000));
  EXPECT_EQ(analysis.ranks[1].kernels, 1);
  EXPECT_EQ(remarks_of(set.traces[1]), "1 event has a negative duration; it was left out.");
}

std::string refusal_of_export_with(const std::string& sql) {
  const TemporaryFolder folder;
  write_export(folder / "report.db");
  SQLite::Database((folder / "report.db").string(), SQLite::OPEN_READWRITE).exec(sql);
  return message_of([&] { analyse(read_traces(folder / "report.db").traces); });
}

// What makes rows without an end, or values as long as it likes, is none of an export.
TEST(Nsight, TablesThatMakeWhatTheyHaveAreLeftOut) {
  const std::string endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) ";
  EXPECT_EQ(refusal_of_export_with("DROP TABLE StringIds; CREATE VIEW StringIds AS " + endless +
                                   "SELECT i AS id, 'x' AS value FROM n"),
            "no error");
  EXPECT_EQ(
      refusal_of_export_with("DROP TABLE StringIds; CREATE TABLE StringIds (id INTEGER, value "
                             "TEXT AS (hex(zeroblob(400000000)))); INSERT INTO StringIds "
                             "VALUES (1)"),
      "no error");
  EXPECT_NE(
      refusal_of_export_with(
          "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL; CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS " +
          endless +
          "SELECT i AS start, i AS \"end\", 0 AS deviceId, 7 AS streamId, 0 AS "
          "correlationId, 16777216 AS globalPid, 1 AS demangledName FROM n")
          .find("has no kernels of CUDA"),
      std::string::npos);
}

std::string rows_up_to(int count) {
  return fmt::format(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) ", count);
}

TEST(Nsight, RangesOfAProcessWithThousandsOfDevicesAreRefused) {
  EXPECT_NE(
      refusal_of_export_with(
          rows_up_to(4000) +
          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i + 1, i, 7, 0, 0, 1 FROM n;" +
          rows_up_to(30'000) + "INSERT INTO NVTX_EVENTS SELECT i, i + 1, 16777217, 'r' FROM n")
          .find("has processes with too many devices"),
      std::string::npos);
}

// A message of fields that are numbers or texts.
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}
std::string number(int field, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(value);
}
std::string text(int field, const std::string& value) {
  return varint((static_cast<std::uint64_t>(field) << 3) | 2) + varint(value.size()) + value;
}
std::string message(const std::string& fields) { return varint(fields.size()) + fields; }

std::string small_chakra() {
  const std::string size = text(1, "comm_size") + number(9, 4096),
                    type = text(1, "comm_type") + number(9, 7);
  return message(text(1, "0.0.4")) +
         message(number(1, 1) + text(2, "gemm") + number(3, 4) + number(7, 12)) +
         message(number(1, 2) + text(2, "gradients") + number(3, 7) + number(7, 30) +
                 text(10, size) + text(10, type));
}

TEST(Chakra, NodesWithDurationsAndSizes) {
  const TemporaryFolder folder;
  write(folder / "trace.0.et", small_chakra());
  const auto traces = read_trace(folder / "trace.0.et");
  const Trace& trace = traces.at(0);
  EXPECT_EQ(trace.format, Format::Chakra);
  ASSERT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(trace.events[0].duration, Nanos(12'000));
  const Call& call = trace.calls[trace.events[1].call];
  EXPECT_EQ(call.collective, Collective::ReduceScatter);
  EXPECT_EQ(call.sent, Bytes(4096));
}

TEST(Chakra, CutAnywhereIsReadOrRefused) {
  const TemporaryFolder folder;
  const std::string whole = small_chakra();
  std::size_t read = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(folder / "t.et", whole.substr(0, size));
    try {
      read += read_trace(folder / "t.et").at(0).events.size();
    } catch (const InputError&) {
    }
  }
  EXPECT_GT(read, 10u);
}

}  // namespace
}  // namespace strato::trace
