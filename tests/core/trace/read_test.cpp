// What readers make of files, right ones and wrong ones.
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/core/trace/trace_kit.h"
#include "tests/message_of.h"

namespace strato::trace {
namespace {

TEST(ReadKineto, EventsAndWhatTheFileSays) {
  const Trace trace =
      read_text(kineto({event("cpu_op", "aten::mm", 10, 5), kernel("gemm", 20.5, 3, 7, 9),
                        event("gpu_memcpy", "Memcpy HtoD", 1, 2, R"("stream":3)"),
                        event("python_function", "f", 0, 99)},
                       3, 8));
  EXPECT_EQ(trace.format, Format::Kineto);
  EXPECT_EQ(trace.rank, 3);
  EXPECT_EQ(trace.world_size, 8);
  EXPECT_EQ(trace.backend, "nccl");
  ASSERT_EQ(trace.events.size(), 3u);
  EXPECT_EQ(trace.skipped_python, 1);
  EXPECT_EQ(trace.name(trace.events[0]), "Memcpy HtoD");
  EXPECT_EQ(trace.events[0].kind, EventKind::Copy);
  const Event& gemm = trace.events[2];
  EXPECT_EQ(gemm.start, Nanos(20'500));
  EXPECT_EQ(gemm.duration, Nanos(3'000));
  EXPECT_EQ(gemm.correlation, 9);
  EXPECT_EQ(trace.lanes[gemm.lane].thread, 7);
  EXPECT_TRUE(trace.remarks.empty()) << remarks_of(trace);
}

TEST(ReadKineto, NanosecondsOfLargeTimesAreExact) {
  const Trace trace = read_text(
      R"([{"ph":"X","cat":"kernel","name":"a","ts":1694128201435418.123,"dur":"2.0005","args":{"stream":1}}])");
  EXPECT_EQ(trace.events.at(0).start, Nanos(1'694'128'201'435'418'123));
  EXPECT_EQ(trace.events.at(0).duration, Nanos(2'001));
}

TEST(ReadKineto, BaseTimeIsAdded) {
  const Trace trace =
      read_text(R"({"baseTimeNanoseconds":1000000,"traceEvents":[)" + kernel("a", 1, 1) + "]}");
  EXPECT_EQ(trace.events.at(0).start, Nanos(1'001'000));
}

TEST(ReadKineto, ACallIsFoundByItsNumberAndByTheLaunchInside) {
  const std::string description =
      R"("External id":5,"Collective name":"allreduce","dtype":"BFloat16","In msg nelems":100,)"
      R"("Process Group Name":"1","Group size":4,"Global rank start":2,"Global rank stride":4)";
  const std::string nccl = R"("stream":8,"correlation":{},"External id":{})";
  const Trace trace = read_text(kineto(
      {event("cpu_op", "record_param_comms", 10, 20, description), launch(12, 1, 77),
       event("user_annotation", "nccl:all_to_all", 40, 20, R"("External id":6)"), launch(42, 1, 88),
       event("kernel", "ncclKernel_AllReduce", 30, 9, fmt::format(fmt::runtime(nccl), 77, 5)),
       event("kernel", "ncclKernel_SendRecv", 60, 9, fmt::format(fmt::runtime(nccl), 88, 88))}));
  std::vector<Call> calls;
  for (const Event& each : trace.events)
    if (each.kind == EventKind::Kernel) calls.push_back(trace.calls.at(each.call.index()));
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].collective, Collective::AllReduce);
  EXPECT_EQ(calls[0].sent, Bytes(200));
  EXPECT_EQ(trace.groups[calls[0].group].ranks, (std::vector<std::int64_t>{2, 6, 10, 14}));
  EXPECT_EQ(calls[1].collective, Collective::AllToAll);
}

TEST(ReadKineto, GroupsOfTheConfigurationInPythonsNotation) {
  const Trace trace = read_text(
      R"({"distributedInfo":{"rank":1,"pg_config":"[{'pg_name': '7', 'pg_desc': 'mesh_tp', 'ranks': [1, 0]}]"},)"
      R"("traceEvents":[)" +
      kernel("a", 1, 1) + "]}");
  ASSERT_EQ(trace.groups.size(), 1u);
  EXPECT_EQ(trace.groups[GroupId(0)].description, "mesh_tp");
  EXPECT_EQ(trace.groups[GroupId(0)].ranks, (std::vector<std::int64_t>{0, 1}));
}

TEST(ReadKineto, CompressedIsTheSame) {
  const std::string text = kineto({kernel("a", 1, 1), kernel("b", 3, 1)});
  const TemporaryFolder folder;
  const auto file = folder / "t.json.gz";
  gzFile gz = gzopen(file.c_str(), "wb");
  gzwrite(gz, text.data(), static_cast<unsigned>(text.size()));
  gzclose(gz);
  EXPECT_EQ(read_trace(file).at(0).events.size(), 2u);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 12);
  const auto cut = read_trace(file);
  EXPECT_NE(remarks_of(cut.at(0)).find("The file ends"), std::string::npos);
}

TEST(ReadKineto, WhatUnfoldsBeyondReasonIsReadNoFurther) {
  const TemporaryFolder folder;
  const auto file = folder / "t.json.gz";
  gzFile gz = gzopen(file.c_str(), "wb1");
  const auto put = [gz](const std::string& text) {
    gzwrite(gz, text.data(), static_cast<unsigned>(text.size()));
  };
  put("{\"traceEvents\": [" + kernel("a", 1, 1) + ",");
  for (int i = 0; i < 100; ++i) put(std::string(1 << 20, ' '));
  put(kernel("b", 3, 1) + "]}");
  gzclose(gz);
  const auto read = read_trace(file);
  EXPECT_EQ(read.at(0).events.size(), 1u);
  EXPECT_NE(remarks_of(read.at(0)).find("The file ends"), std::string::npos);
}

TEST(ReadChrome, PairsOfBeginAndEnd) {
  const auto pair = [](const char* phase, const char* name, int at) {
    return fmt::format(R"({{"ph":"{}","name":"{}","pid":1,"tid":1,"ts":{}}})", phase, name, at);
  };
  const Trace trace =
      read_text("[" +
                joined({pair("B", "outer", 0), pair("B", "inner", 2), pair("E", "", 5),
                        pair("E", "", 9), pair("E", "", 10), pair("B", "open", 11)}) +
                "]");
  EXPECT_EQ(trace.format, Format::Chrome);
  ASSERT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(trace.name(trace.events[0]), "outer");
  EXPECT_EQ(trace.events[0].duration, Nanos(9'000));
  EXPECT_EQ(trace.events[1].duration, Nanos(3'000));
  EXPECT_EQ(remarks_of(trace),
            "1 event never ended and 1 end without a beginning; they were left out.");
}

TEST(ReadWrong, WhatIsWrongIsSaidAndTheRestIsUsed) {
  const Trace trace = read_text(
      kineto({kernel("a", 1, 1), kernel("a", 1, 1), kernel("b", 5, -2), kernel("c", 7, 4),
              kernel("d", 8, 4),
              R"({"ph":"X","cat":"kernel","name":"e","ts":NaN,"dur":1,"args":{"stream":1}})",
              "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"C:\\q\n\xff\",\"ts\":20,\"dur\":1,"
              "\"args\":{\"stream\":1,\"x\":-Infinity}}"}));
  ASSERT_EQ(trace.events.size(), 4u);
  EXPECT_EQ(trace.name(trace.events[3]), "C:\\q ?");
  const std::string remarks = remarks_of(trace);
  for (const char* said : {"1 event is there more than once", "1 event has a negative duration",
                           "1 kernel starts before the one before", "1 event has no valid time",
                           "5 places are no valid JSON"})
    EXPECT_NE(remarks.find(said), std::string::npos) << said << " in\n" << remarks;
}

TEST(ReadWrong, AFileThatEndsInsideAnEventIsUsedUpToThere) {
  const std::string text = kineto({kernel("a", 1, 1), kernel("b", 3, 1), kernel("c", 5, 1)});
  const Trace trace = read_text(text.substr(0, text.size() - 20));
  EXPECT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(remarks_of(trace), "The file ends inside an event; 2 events before that were used.");
}

TEST(ReadWrong, WhatIsNoTraceIsRefused) {
  for (const char* text : {"", "{}", "[1,2]", "no json", R"({"graph": 1})"}) {
    const TemporaryFolder folder;
    write(folder / "t.json", text);
    EXPECT_FALSE(recognise(folder / "t.json")) << text;
    EXPECT_NE(message_of([&] { read_trace(folder / "t.json"); }), "no error") << text;
  }
  EXPECT_NE(message_of([] { read_text(R"({"traceEvents": []})"); }).find("has no trace events"),
            std::string::npos);
  EXPECT_NE(message_of([] { read_traces("/nowhere"); }), "no error");
}

TEST(ReadWrong, TimesThatDoNotFitAreLeftOut) {
  const Trace trace = read_text(kineto(
      {kernel("a", 1, 1), kernel("b", 9e30, 1), kernel("c", -9e14, 1), kernel("d", 2, 1e300)}));
  EXPECT_EQ(trace.events.size(), 1u) << remarks_of(trace);
  EXPECT_NE(message_of([] {
              read_text(kineto({kernel("a", 1, 1.5e15), kernel("b", 1, 1.5e15)}));
            }),
            "no error");
}

TEST(ReadExecutionTrace, CommunicationWithSizesAndGroups) {
  const Trace trace = read_text(
      R"({"schema":"1.1.0-chakra.0.0.4","pid":1,"nodes":[)"
      R"({"id":2,"name":"aten::mm","inputs":{"values":[]},"attrs":[]},)"
      R"({"id":3,"name":"record_param_comms","inputs":{"values":[]},"attrs":[)"
      R"({"name":"collective_name","value":"broadcast"},{"name":"dtype","value":"Float"},)"
      R"({"name":"in_msg_nelems","value":10},{"name":"pg_name","value":"0"},{"name":"pg_size","value":2},)"
      R"({"name":"global_rank_start","value":0},{"name":"global_rank_stride","value":1}]},)"
      R"({"id":4,"name":"record_param_comms","inputs":[[[9,6,0,48,4,"cuda:0"]],1,2,0,"all_to_allv",[],[]]},)"
      R"({"id":5,"name":"record_param_comms","inputs":[1,2,0,"wait",[],[]]}]})");
  EXPECT_EQ(trace.format, Format::ExecutionTrace);
  EXPECT_FALSE(trace.timed);
  ASSERT_EQ(trace.events.size(), 3u);
  ASSERT_EQ(trace.calls.size(), 2u);
  EXPECT_EQ(trace.calls[CallId(0)].collective, Collective::Broadcast);
  EXPECT_EQ(trace.calls[CallId(0)].sent, Bytes(40));
  EXPECT_EQ(trace.groups[trace.calls[CallId(0)].group].ranks, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(trace.calls[CallId(1)].collective, Collective::AllToAll);
  EXPECT_EQ(trace.calls[CallId(1)].sent, Bytes(192));
}

TEST(ReadFolder, RanksComeFromTheFileOrItsName) {
  const TemporaryFolder folder;
  write(folder / "z.json", kineto({kernel("a", 1, 1)}, 0, 4));
  write(folder / "worker3.pt.trace.json", "[" + kernel("a", 1, 1) + "]");
  write(folder / "note.txt", "no trace");
  const TraceSet set = read_traces(folder.path());
  ASSERT_EQ(set.traces.size(), 2u);
  EXPECT_EQ(set.traces[0].rank, 0);
  EXPECT_EQ(set.traces[1].rank, 3);
}

}  // namespace
}  // namespace strato::trace
