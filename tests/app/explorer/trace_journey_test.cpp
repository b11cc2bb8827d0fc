// A recorded run is opened in the real window, as a person would: dropped, from the menu, and
// beside a plan.
#include <gtest/gtest.h>

#include <QDragEnterEvent>
#include <QDropEvent>
#include <QMimeData>
#include <QTemporaryDir>
#include <QTest>
#include <QUrl>

#include "app/explorer/main_window.h"
#include "app/explorer/open_files.h"
#include "app/explorer/places/centre.h"
#include "tests/app/explorer/sample.h"
#include "tests/core/trace/trace_kit.h"
#include "views/traces/recorded_canvas.h"
#include "views/traces/traces_view.h"

namespace strato {
namespace {

class TraceJourney : public ::testing::Test {
 protected:
  TraceJourney() : window(session, false) {
    QObject::connect(&session, &Session::failed, [this](const QString& text) { failed << text; });
    window.resize(1280, 800);
    window.show();
    view = window.findChild<TracesView*>();
    for (int rank = 0; rank < 2; ++rank)
      trace::write(
          file(QStringLiteral("rank-%1.json").arg(rank)).toStdString(),
          trace::kineto({trace::kernel("gemm", 0, 100), trace::all_reduce(100, 50, "[0, 1]")}, rank,
                        2));
  }
  QString file(const QString& name) const { return folder.filePath(name); }
  void drop(const QString& path) {
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(path)});
    QDragEnterEvent enter(QPoint(400, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &enter);  // drops go only to what has accepted this
    QDropEvent event(QPointF(400, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&window, &event);
  }
  bool shown() {
    return QTest::qWaitFor([&] { return view->isVisible() && view->model().run(); }, kPatience);
  }

  QTemporaryDir folder;
  Session session;
  MainWindow window;
  TracesView* view;
  QStringList failed;
};

TEST_F(TraceJourney, AFolderThatIsDroppedIsShownWithoutAModel) {
  ASSERT_FALSE(view->isVisible());
  drop(folder.path());
  ASSERT_TRUE(shown());
  EXPECT_TRUE(view->canvas().isVisible());
  EXPECT_EQ(view->model().run()->rows.size(), 2u);
  EXPECT_TRUE(failed.isEmpty()) << failed.join('\n').toStdString();
  view->model().close();
  EXPECT_FALSE(view->isVisible()) << "the page of the start again";
}

TEST_F(TraceJourney, AFileAmongOthersIsOneOfThem) {
  window.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json"),
               file(QStringLiteral("rank-1.json"))});
  ASSERT_TRUE(QTest::qWaitFor([&] { return session.snapshot().outcome != nullptr; }, kPatience));
  ASSERT_TRUE(shown());
  EXPECT_EQ(view->model().run()->rows.size(), 1u);
  EXPECT_TRUE(failed.isEmpty()) << failed.join('\n').toStdString();
}

TEST_F(TraceJourney, WhatHoldsNoTraceIsSaid) {
  const QTemporaryDir empty;
  drop(empty.path());
  ASSERT_TRUE(QTest::qWaitFor([&] { return !failed.isEmpty(); }, kPatience));
  EXPECT_TRUE(failed.front().contains(QStringLiteral("has no trace in it")));
}

TEST_F(TraceJourney, KindsAreToldByContent) {
  const auto kind = [&](const QString& path) { return kind_of(session.plugins(), path); };
  EXPECT_EQ(kind(folder.path()), FileKind::Trace);
  EXPECT_EQ(kind(file(QStringLiteral("rank-0.json"))), FileKind::Trace);
  EXPECT_EQ(kind(sample("clusters/tag-2x1080ti.json")), FileKind::Cluster);
  EXPECT_EQ(kind(sample("models/lenet.onnx")), FileKind::Model);
  QFile::copy(file(QStringLiteral("rank-0.json")), file(QStringLiteral("of any name")));
  EXPECT_EQ(kind(file(QStringLiteral("of any name"))), FileKind::Trace);
}

}  // namespace
}  // namespace strato
