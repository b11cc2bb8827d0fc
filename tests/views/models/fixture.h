// A session with a small model on a cluster of two machines, for tests.
#pragma once

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QStringList>
#include <QTemporaryDir>
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "tests/paths.h"
#include "views/models/session.h"

namespace strato {

inline std::filesystem::path sample(const char* name) {
  return std::filesystem::path(kSourceFolder) / "sample_graphs" / name;
}

// Runs the event loop until it holds; false after `seconds`.
inline bool wait_until(const std::function<bool()>& holds, double seconds = 60) {
  QElapsedTimer timer;
  timer.start();
  while (!holds()) {
    if (static_cast<double>(timer.elapsed()) > seconds * 1000) return false;
    QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents | QEventLoop::AllEvents, 20);
  }
  return true;
}

// A model on two machines of one GPU each.
inline void open_on_two(Session& session, const char* model, std::int64_t batch, int groups) {
  ImportOptions import;
  import.batch = batch;
  ProblemOptions options;
  options.grouping.max_groups = groups;
  session.open_cluster(sample("clusters/tag-2x1080ti.json"));
  session.open_model(sample(model), import, options);
  session.settle();
}

// Frameworks that train transformers: their exporters refuse another model, as LeNet.
inline bool is_for_transformers(const std::string& exporter) {
  static constexpr std::array<std::string_view, 6> kNames = {
      "accelerate", "deepspeed", "megatron", "nemo", "pytorch-schedule", "torchtitan"};
  return std::ranges::find(kNames, exporter) != kNames.end();
}

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    QObject::connect(&session_, &Session::failed,
                     [this](const QString& text) { failures_ << text; });
  }

  void open(const char* model, std::int64_t batch, int groups) {
    open_on_two(session_, model, batch, groups);
    ASSERT_TRUE(failures_.isEmpty()) << failures_.join('\n').toStdString();
    ASSERT_TRUE(session_.snapshot().problem);
  }
  void open_lenet() { open("models/lenet.onnx", 16, 8); }

  void open_workspace() {
    ASSERT_TRUE(folder_.isValid());
    session_.open_workspace(folder_.filePath("test.strata").toStdString(), false);
    session_.settle();
  }

  // As it is on the disk, beside the session.
  Workspace stored() const { return Workspace(session_.workspace()->file(), true); }

  const Problem& problem() { return *session_.snapshot().problem; }
  Nanos step_time() { return session_.snapshot().outcome->timeline->step_time; }

  QTemporaryDir folder_;
  QStringList failures_;
  Session session_;
};

}  // namespace strato
