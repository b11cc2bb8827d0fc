// The start page of the window, as a person uses it: recent work, samples, a pasted script, a
// cluster by fields, and what is told where something cannot be planned.
#include "app/explorer/start_page.h"

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QClipboard>
#include <QDockWidget>
#include <QElapsedTimer>
#include <QGuiApplication>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QSettings>
#include <QSpinBox>
#include <QStackedWidget>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTimer>
#include <QTreeWidget>
#include <algorithm>
#include <cstdio>
#include <vector>

#include "app/explorer/header_bar.h"
#include "app/explorer/main_window.h"
#include "app/explorer/model_field.h"
#include "app/explorer/open_files.h"
#include "core/io/file.h"
#include "tests/app/explorer/by_hand.h"
#include "tests/app/explorer/cut_text.h"
#include "tests/app/explorer/start/scripts.h"

namespace strato {
namespace {

// With settings and a data folder of its own.
class StartPageTest : public ::testing::Test {
 protected:
  StartPageTest() : data_before_(qgetenv("XDG_DATA_HOME")) {
    qputenv("XDG_DATA_HOME", folder_.path().toUtf8());
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder_.path());
    QSettings().clear();
  }
  ~StartPageTest() override {
    session_.stop_search();
    session_.settle();
    window_.reset();
    QSettings().clear();
    data_before_.isEmpty() ? qunsetenv("XDG_DATA_HOME") : qputenv("XDG_DATA_HOME", data_before_);
  }
  void open_window(const QSize& size = {1280, 800}) {
    window_ = std::make_unique<MainWindow>(session_, true);
    window_->resize(size);
    window_->show();
    window_->activateWindow();
    settle();
  }
  static void settle() {
    for (int i = 0; i < 6; ++i) QCoreApplication::processEvents();
  }

  template <class Widget>
  Widget& part(const char* name) {
    auto* found = window_->findChild<Widget*>(QString::fromUtf8(name));
    if (!found) throw std::logic_error(name);
    return *found;
  }
  StartPage& page() { return *window_->findChild<StartPage*>(); }
  std::string said(const char* label) { return part<QLabel>(label).text().toStdString(); }
  QPlainTextEdit& box() { return part<QPlainTextEdit>("pasted"); }
  std::string cluster() { return part<QLineEdit>("cluster-name").text().toStdString(); }
  int batch() { return page().findChild<QSpinBox*>(QStringLiteral("batch"))->value(); }

  // As Ctrl+V does, and waits until it was read.
  void paste(const std::string& text) {
    QGuiApplication::clipboard()->setText(QString::fromStdString(text));
    box().setFocus();
    box().selectAll();
    box().paste();
    const auto* read_soon =
        page().findChild<ModelField*>()->findChild<QTimer*>(QString(), Qt::FindDirectChildrenOnly);
    ASSERT_TRUE(QTest::qWaitFor([&] { return !read_soon->isActive(); }));
  }
  QTreeWidgetItem& sample_item(const char* name) {
    auto& tree = part<QTreeWidget>("samples");
    const auto found =
        tree.findItems(QString::fromUtf8(name), Qt::MatchExactly | Qt::MatchRecursive);
    if (found.isEmpty()) throw std::logic_error(name);
    return *found.front();
  }
  void click(const char* name) {
    auto& tree = part<QTreeWidget>("samples");
    QTreeWidgetItem& item = sample_item(name);
    tree.scrollToItem(&item);
    QTest::mouseClick(tree.viewport(), Qt::LeftButton, {}, tree.visualItemRect(&item).center());
  }
  bool shows_views() { return !page().isVisible(); }
  bool wait_for_picture() {
    return QTest::qWaitFor([&] { return session_.snapshot().outcome && shows_views(); }, kPatience);
  }
  bool wait_for_search() {
    return QTest::qWaitFor([&] { return !session_.search().run.isEmpty(); }, kPatience);
  }

  QTemporaryDir folder_;
  QByteArray data_before_;
  Session session_;
  std::unique_ptr<MainWindow> window_;
};

TEST_F(StartPageTest, ASampleIsPlannedByReturn) {
  open_window();
  EXPECT_FALSE(shows_views());
  click("h100-2x8");
  click("gpt2_medium");
  EXPECT_EQ(said("chosen-model"), "gpt2_medium.json");
  EXPECT_EQ(cluster(), "h100-2x8");
  QTest::keyClick(&part<QTreeWidget>("samples"), Qt::Key_Return);
  ASSERT_TRUE(wait_for_picture());
  EXPECT_EQ(session_.model_name(), QStringLiteral("gpt2_medium"));
  EXPECT_EQ(session_.snapshot().problem->cluster->device_count(), 16u);
  EXPECT_EQ(session_.snapshot().problem->graph->batch(), 32);
  EXPECT_TRUE(wait_for_search()) << "it begins without being asked for";
}

// From the press on Plan to what is drawn.
TEST_F(StartPageTest, TheFirstPictureIsThereSoon) {
  open_window();
  click("llama3_8b");
  EXPECT_EQ(cluster(), "h100-8x8");
  EXPECT_EQ(batch(), 64) << "one sample a GPU at least";
  QElapsedTimer time;
  time.start();
  QTest::mouseClick(&part<QAbstractButton>("plan"), Qt::LeftButton);
  ASSERT_TRUE(wait_for_picture());
  EXPECT_FALSE(window_->grab().isNull());
  const auto took = time.elapsed();
  std::printf("llama3_8b on h100-8x8: first picture after %lld ms\n", static_cast<long long>(took));
  EXPECT_EQ(session_.search().state, SearchPhase::Idle) << "drawn before the search begins";
  EXPECT_TRUE(wait_for_search());
  EXPECT_LT(took, 10'000);
}

TEST_F(StartPageTest, APastedScriptIsPlannedOnItsMachines) {
  open_window();
  paste(kMegatron);
  EXPECT_EQ(cluster(), "h100-2x4");
  EXPECT_EQ(batch(), 48);
  EXPECT_NE(said("model-note").find("Megatron-LM: llama-"), std::string::npos)
      << said("model-note");
  EXPECT_NE(said("model-note").find("256 tokens a sample"), std::string::npos);
  EXPECT_NE(said("model-note").find("32000 are assumed"), std::string::npos) << "said, not dropped";
  QTest::keyClick(&box(), Qt::Key_Return, Qt::ControlModifier);
  ASSERT_TRUE(wait_for_picture());
  const QString file = QString::fromStdString(session_.model_source()->path.string());
  EXPECT_TRUE(file.startsWith(folder_.path())) << file.toStdString();
  EXPECT_EQ(read_file(session_.model_source()->path), kMegatron);
  EXPECT_EQ(session_.snapshot().problem->graph->batch(), 48);
  EXPECT_EQ(session_.snapshot().problem->cluster->device_count(), 8u);
  EXPECT_TRUE(recent_files().contains(file));
  EXPECT_TRUE(wait_for_search());
  EXPECT_NE(session_.search().planner, QStringLiteral("configuration"));
}

TEST_F(StartPageTest, AScriptIsShownAsItIsWritten) {
  open_window();
  EXPECT_FALSE(part<QAbstractButton>("as-written").isVisible());
  paste(kMegatron);
  ASSERT_TRUE(part<QAbstractButton>("as-written").isVisible());
  QTest::mouseClick(&part<QAbstractButton>("as-written"), Qt::LeftButton);
  ASSERT_TRUE(wait_for_picture());
  ASSERT_TRUE(wait_for_search());
  ASSERT_TRUE(
      QTest::qWaitFor([&] { return session_.search().state == SearchPhase::Idle; }, kPatience));
  EXPECT_EQ(session_.search().planner, QStringLiteral("configuration"));
  session_.settle();
  EXPECT_EQ(session_.snapshot().strategy.micro_batches.count, 24);
}

TEST_F(StartPageTest, FieldsHoldAgainstTheScript) {
  open_window();
  paste(kMegatron);
  type_over(part<QSpinBox>("gpus"), QStringLiteral("8"));  // plans, by its Return
  ASSERT_TRUE(wait_for_picture());
  EXPECT_EQ(session_.snapshot().problem->cluster->device_count(), 16u);
}

TEST_F(StartPageTest, AConfigurationIsPastedToo) {
  open_window();
  paste(kConfig);
  EXPECT_EQ(said("model-note"), "config.json: Small-Llama.");
  type_over(*page().findChild<QSpinBox*>(QStringLiteral("batch")), QStringLiteral("128"));
  ASSERT_TRUE(wait_for_picture());
  EXPECT_EQ(session_.model_name(), QStringLiteral("Small-Llama"));
  EXPECT_EQ(session_.snapshot().problem->graph->batch(), 128);
}

TEST_F(StartPageTest, WhatIsNoModelIsToldBesideTheBox) {
  open_window();
  const auto expect_told = [&](const std::string& why) {
    QTest::mouseClick(&part<QAbstractButton>("plan"), Qt::LeftButton);
    settle();
    EXPECT_NE(said("model-note").find(why), std::string::npos) << said("model-note");
    EXPECT_FALSE(shows_views());
    EXPECT_FALSE(session_.busy());
    EXPECT_FALSE(QApplication::activeModalWidget());
  };
  expect_told("Choose a sample, open a file, or paste a text.");
  paste("Dear colleagues, it doesn't train.");
  expect_told("The text describes no model");
  paste(kDeepSpeed);
  expect_told("DeepSpeed: the text leaves the model to the program");
  paste(std::string(10'000'000, 'x'));
  EXPECT_NE(said("model-note").find("The text has 10.0 MB"), std::string::npos);
  EXPECT_EQ(box().toPlainText().toStdString(), kDeepSpeed) << "nothing was put in";
  QElapsedTimer time;
  time.start();
  paste(std::string(kMostPasted - 1, 'x'));  // as much as is read, in one line
  EXPECT_LT(time.elapsed(), 20'000);
  expect_told("The text describes no model");
  EXPECT_EQ(session_.loads_begun(), 0u);
}

TEST_F(StartPageTest, TooManyGpusAreToldBesideTheFields) {
  open_window();
  click("gpt2_medium");
  type_over(part<QSpinBox>("machines"), QStringLiteral("9000"));
  settle();
  EXPECT_NE(said("cluster-note").find("give 16384 GPUs at most"), std::string::npos);
  EXPECT_FALSE(shows_views());
  EXPECT_EQ(session_.loads_begun(), 0u);
  EXPECT_TRUE(part<QLineEdit>("cluster-name").hasFocus());
}

// Only the importer knows that there is no such family.
TEST_F(StartPageTest, WhatFailsLaterIsToldOnThePage) {
  open_window();
  paste(R"({"model_type": "abacus", "hidden_size": 4})");
  QTest::mouseClick(&part<QAbstractButton>("plan"), Qt::LeftButton);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !said("plan-trouble").empty(); }, kPatience));
  session_.settle();
  EXPECT_NE(said("plan-trouble").find("abacus"), std::string::npos) << said("plan-trouble");
  EXPECT_FALSE(shows_views());
  EXPECT_TRUE(part<QLabel>("plan-trouble").isVisible());
  EXPECT_TRUE(window_->findChildren<QMessageBox*>().isEmpty());
  click("gpt2_medium");
  EXPECT_FALSE(part<QLabel>("plan-trouble").isVisible()) << "it is about the one before";
}

TEST_F(StartPageTest, RecentWorkIsWhatIsStillThere) {
  const QString deep = folder_.path() + QStringLiteral("/a folder with a long name").repeated(4);
  ASSERT_TRUE(QDir().mkpath(deep));
  const QString model = deep + QStringLiteral("/config.json");
  write_file(model.toStdString(), kConfig);
  const QString gone = folder_.filePath(QStringLiteral("gone.onnx"));
  write_file(gone.toStdString(), "x");
  remember_as_recent({gone, model, sample("clusters/gdp.json"), sample("models/lenet.onnx"),
                      QStringLiteral("h100-8x8")});
  ASSERT_TRUE(QFile::remove(gone));
  open_window();
  auto& recent = part<QTableWidget>("recent");
  ASSERT_EQ(recent.rowCount(), 3);
  EXPECT_EQ(recent.item(0, 1)->text(), QStringLiteral("model"));
  EXPECT_EQ(recent.item(1, 1)->text(), QStringLiteral("cluster"));
  EXPECT_EQ(recent.item(2, 1)->text(), QStringLiteral("model"));
  EXPECT_EQ(recent.item(2, 0)->toolTip(), model);
  EXPECT_EQ(recent.textElideMode(), Qt::ElideMiddle);
  EXPECT_LE(recent.columnWidth(0) + recent.columnWidth(1), recent.viewport()->width());
  recent.setFocus();
  QTest::keyClick(&recent, Qt::Key_Home);
  QTest::keyClick(&recent, Qt::Key_Return);
  ASSERT_TRUE(wait_for_picture());
  EXPECT_EQ(session_.model_name(), QStringLiteral("lenet"));
}

TEST_F(StartPageTest, ItStandsOverWhatIsOpenAndGivesItBack) {
  open_window();
  EXPECT_TRUE(part<QDockWidget>("inspector").isHidden()) << "the page has the whole window";
  window_->open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
  ASSERT_TRUE(wait_for_picture());
  session_.settle();
  settle();
  EXPECT_FALSE(part<QDockWidget>("inspector").isHidden());
  EXPECT_FALSE(part<QDockWidget>("workspace").isHidden());
  QTest::keyClick(window_.get(), Qt::Key_Home, Qt::AltModifier);
  settle();
  EXPECT_FALSE(shows_views());
  EXPECT_TRUE(part<QDockWidget>("inspector").isHidden());
  EXPECT_TRUE(part<QTableWidget>("recent").hasFocus());
  EXPECT_EQ(part<QTableWidget>("recent").rowCount(), 3) << "and the workspace that keeps it";
  QTest::keyClick(window_.get(), Qt::Key_Home, Qt::AltModifier);
  settle();
  EXPECT_TRUE(shows_views());
  EXPECT_FALSE(part<QDockWidget>("inspector").isHidden());
  EXPECT_FALSE(part<QDockWidget>("workspace").isHidden());
  QTest::keyClick(window_.get(), Qt::Key_Home, Qt::AltModifier);
  click("gpt2_medium");
  QTest::keyClick(&part<QTreeWidget>("samples"), Qt::Key_Return);
  ASSERT_TRUE(QTest::qWaitFor(
      [&] { return session_.model_name() == QStringLiteral("gpt2_medium"); }, kPatience));
  EXPECT_TRUE(shows_views());
}

// Over the box, which leaves files to the window.
TEST_F(StartPageTest, DroppedFilesGoIntoTheFields) {
  open_window();
  const auto drop = [&](const QList<QUrl>& files) {
    QMimeData data;
    data.setUrls(files);
    data.setText(QStringLiteral("file:///of/a/manager"));
    QDragEnterEvent enter({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, {});
    QCoreApplication::sendEvent(box().viewport(), &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent dropped({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, {});
    QCoreApplication::sendEvent(box().viewport(), &dropped);
    settle();
    EXPECT_TRUE(box().toPlainText().isEmpty());
  };
  drop({QUrl::fromLocalFile(sample("models/lenet.onnx")),
        QUrl::fromLocalFile(sample("clusters/gdp.json"))});
  EXPECT_EQ(said("chosen-model"), "lenet.onnx");
  EXPECT_EQ(cluster(), sample("clusters/gdp.json").toStdString());
  const QString prose = folder_.filePath(QStringLiteral("prose.txt"));
  write_file(prose.toStdString(), "it is raining\n");
  drop({QUrl::fromLocalFile(prose)});
  EXPECT_NE(
      said("plan-trouble").find("prose.txt: is not a model, cluster, plan, profile or workspace"),
      std::string::npos)
      << said("plan-trouble");
  EXPECT_EQ(said("chosen-model"), "lenet.onnx");
}

TEST_F(StartPageTest, TabReachesEverything) {
  remember_as_recent({sample("models/lenet.onnx")});
  open_window();
  paste(kMegatron);
  std::vector<const QWidget*> reached;
  page().take_keys();
  for (int i = 0; i < 30; ++i) {
    reached.push_back(window_->focusWidget());
    QTest::keyClick(window_->focusWidget(), Qt::Key_Tab);
  }
  auto from = reached.begin();  // as one reads
  for (const char* name : {"recent", "samples", "open-file", "pasted", "machines", "gpus", "gpu",
                           "network", "cluster-name", "batch", "as-written", "plan"}) {
    const auto found = std::find(from, reached.end(), page().findChild<QWidget*>(name));
    ASSERT_NE(found, reached.end()) << name;
    from = found;
  }
  for (const auto* button : page().findChildren<QAbstractButton*>())
    EXPECT_TRUE(std::ranges::find(reached, button) != reached.end() || !button->isVisible())
        << button->text().toStdString();
  EXPECT_EQ(box().toPlainText().toStdString(), kMegatron) << "Tab goes on";
}

TEST_F(StartPageTest, NothingIsCut) {
  open_window();
  paste(kMegatron);
  part<QLineEdit>("cluster-name").setText(QStringLiteral("rtx-pro-6000-9000x8-100GbE"));
  for (const QSize size : {QSize(1280, 800), QSize(800, 600)}) {
    window_->resize(size);
    settle();
    EXPECT_EQ(window_->size(), size);
    for (const std::string& text : cut_texts(*window_))
      ADD_FAILURE() << size.width() << ": " << text;
    EXPECT_LE(page().minimumSizeHint().width(), size.width());
    EXPECT_LE(page().mapTo(window_.get(), QPoint(page().width(), 0)).x(), size.width());
  }
}

TEST_F(StartPageTest, ATextThatIsNothingIsNamed) {
  const auto refused = [&](const char* name, const std::string& content) {
    const QString file = folder_.filePath(QString::fromUtf8(name));
    write_file(file.toStdString(), content);
    try {
      kind_of(session_.plugins(), file);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  for (const char* name : {"a.txt", "a.conf", "a", "a.png"})
    EXPECT_NE(refused(name, "it is raining\n")
                  .find("is not a model, cluster, plan, profile or workspace"),
              std::string::npos)
        << name;
  EXPECT_NE(refused("empty.txt", "").find("is not a model, cluster"), std::string::npos);
  EXPECT_NE(refused("binary.txt", std::string("\0\1", 2)).find("is not a model"),
            std::string::npos);
  // Clusters, whose reader knows what is wrong with them.
  EXPECT_EQ(refused("topology.txt", "\tGPU0\tGPU1\nGPU0\t X \tNV4\n"), "");
  EXPECT_EQ(refused("json.txt", R"({"format": "stratoscope-cluster")"), "");
  EXPECT_EQ(kind_of(session_.plugins(), QStringLiteral("h100-2x8")), FileKind::Cluster);
}

}  // namespace
}  // namespace strato
