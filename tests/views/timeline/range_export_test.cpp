#include "views/timeline/range_export.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QTemporaryDir>

#include "core/base/error.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "tests/views/models/fixture.h"
#include "tests/views/timeline/sample_timeline.h"
#include "views/timeline/timeline_view.h"

namespace strato {
namespace {

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST(RangeExport, ATableHasTheTasksOfTheRange) {
  const auto timeline = test::sample(300, 1);
  const Nanos step = timeline->step_time, begin = step / 3, end = step / 2;
  std::size_t inside = 0;
  for (const TaskTimes& times : timeline->tasks) inside += times.end > begin && times.start < end;
  EXPECT_EQ(lines_of(range_csv(*timeline, nullptr, begin, end)), inside + 1);
  EXPECT_EQ(lines_of(range_csv(*timeline, nullptr, Nanos(0), step)), timeline->tasks.size() + 1);
  EXPECT_EQ(lines_of(range_csv(*timeline, nullptr, step, step * 2)), 1u);
}

TEST(RangeExport, TraceEventsAreCutByTime) {
  const std::string trace = R"({"otherData":{"model":"m"},"traceEvents":[
    {"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"d"}},
    {"ph":"X","name":"before","pid":1,"tid":1,"ts":0.0,"dur":1.0},
    {"ph":"X","name":"reaches in","pid":1,"tid":1,"ts":1.0,"dur":1.001},
    {"ph":"X","name":"inside","pid":1,"tid":1,"ts":2.5,"dur":0.1},
    {"ph":"X","name":"after","pid":1,"tid":1,"ts":3.0,"dur":1.0},
    {"ph":"C","name":"memory","pid":1,"ts":0.5,"args":{"bytes":5}},
    {"ph":"C","name":"memory","pid":1,"ts":1.5,"args":{"bytes":7}},
    {"ph":"C","name":"memory","pid":1,"ts":2.5,"args":{"bytes":9}},
    {"ph":"s","id":1,"pid":1,"tid":1,"ts":2.1},{"ph":"f","id":1,"pid":1,"tid":1,"ts":2.2},
    {"ph":"s","id":2,"pid":1,"tid":1,"ts":2.1},{"ph":"f","id":2,"pid":1,"tid":1,"ts":3.2}]})";
  const Json cut = Json::parse(range_of_trace(trace, Nanos(2000), Nanos(3000)));
  EXPECT_EQ(cut.at("otherData").at("model"), "m");
  std::vector<std::string> slices;
  std::vector<int> bytes;
  int arrows = 0;
  for (const Json& event : cut.at("traceEvents")) {
    if (event.at("ph") == "X") slices.push_back(event.at("name"));
    if (event.at("ph") == "C") {
      bytes.push_back(event.at("args").at("bytes"));
      EXPECT_GE(event.at("ts").get<double>(), 2.0);
    }
    if (event.contains("id")) {
      ++arrows;
      EXPECT_EQ(event.at("id"), 1);
    }
  }
  EXPECT_EQ(slices, (std::vector<std::string>{"reaches in", "inside"}));
  EXPECT_EQ(bytes, (std::vector<int>{9, 7}));
  EXPECT_EQ(arrows, 2);
  EXPECT_THROW(range_of_trace("{}", Nanos(0), Nanos(1)), InputError);
  EXPECT_THROW(range_of_trace("nothing", Nanos(0), Nanos(1)), InputError);
}

class ExportTest : public SessionTest {};

TEST_F(ExportTest, WritesEveryFormatAndTellsWhatFails) {
  open_lenet();
  QTemporaryDir folder;
  QStringList told;
  QObject::connect(&session_, &Session::message, [&](const QString& text) { told << text; });
  TimelineView view(session_);
  view.resize(900, 400);
  const auto path = [&](const char* name) { return folder.filePath(QString::fromUtf8(name)); };
  view.export_range(path("whole.csv"));
  ASSERT_TRUE(wait_until([&] { return told.size() + failures_.size() == 1; }));
  const std::string whole = read_file(path("whole.csv").toStdString());
  EXPECT_EQ(lines_of(whole), session_.snapshot().outcome->timeline->tasks.size() + 1);
  session_.selection().select_range(TimeRange{Nanos(0), step_time() / 4});
  int expected = 1;
  for (const char* name : {"part.csv", "part.json", "part.svg", "part.png"}) {
    view.export_range(path(name));
    ++expected;
    ASSERT_TRUE(wait_until([&] { return told.size() + failures_.size() == expected; })) << name;
  }
  EXPECT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
  EXPECT_LT(read_file(path("part.csv").toStdString()).size(), whole.size());
  EXPECT_GT(Json::parse(read_file(path("part.json").toStdString())).at("traceEvents").size(), 3u);
  EXPECT_FALSE(QImage(path("part.png")).isNull());
  EXPECT_NE(read_file(path("part.svg").toStdString()).find("<svg"), std::string::npos);
  for (const char* name : {"no/such/folder.csv", "no/such/folder.png"}) {
    view.export_range(path(name));
    ++expected;
    ASSERT_TRUE(wait_until([&] { return told.size() + failures_.size() == expected; })) << name;
  }
  EXPECT_EQ(failures_.size(), 2);
}

TEST(Export, OfNothingIsNothing) {
  Session session;
  TimelineView view(session);
  view.export_range(QStringLiteral("/no/such/file.csv"));
  view.show_timeline(test::sample(20, 1), Nanos(0));
  view.export_range(QStringLiteral("/no/such/file.json"));  // not the session's: no trace of it
}

}  // namespace
}  // namespace strato
