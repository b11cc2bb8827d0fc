// The guide: every link and picture is there, every view has a page, F1 opens the page of the view
// in focus.
#include <gtest/gtest.h>

#include <QApplication>
#include <QDirIterator>
#include <QRegularExpression>
#include <QTest>

#include "app/explorer/guide_window.h"
#include "app/explorer/main_window.h"
#include "tests/app/explorer/each_view.h"
#include "tests/app/explorer/sample.h"
#include "tests/paths.h"

namespace strato {
namespace {

QString folder() {
  return QString::fromStdString(std::string(kSourceFolder) + "/resources/help/guide");
}

QString content(const QString& file) {
  QFile opened(file);
  EXPECT_TRUE(opened.open(QIODevice::ReadOnly)) << file.toStdString();
  return QString::fromUtf8(opened.readAll());
}

TEST(Guide, LinksAndPicturesAreThere) {
  static const QRegularExpression link(QStringLiteral(R"((!?)\[([^\]]*)\]\(([^)]+)\))"));
  int pages = 0;
  for (QDirIterator files(folder(), {QStringLiteral("*.md")}); files.hasNext();) {
    const QString file = files.next();
    ++pages;
    for (auto found = link.globalMatch(content(file)); found.hasNext();) {
      const QString target = found.next().captured(3);
      EXPECT_FALSE(target.contains(QStringLiteral("://"))) << "nothing is read from the network";
      EXPECT_TRUE(QFileInfo::exists(folder() + QLatin1Char('/') + target))
          << file.toStdString() << " shows " << target.toStdString();
    }
  }
  EXPECT_GE(pages, 14);
}

TEST(Guide, EveryPageIsLinkedFromTheOverviewAndLeadsBack) {
  const auto pages = guide_pages(folder());
  for (QDirIterator files(folder(), {QStringLiteral("*.md")}); files.hasNext();) {
    const QString file = files.next(), page = QFileInfo(file).completeBaseName();
    if (page == QStringLiteral("index")) continue;
    EXPECT_TRUE(std::any_of(pages.begin(), pages.end(), [&](const auto& known) {
      return known.first == page;
    })) << page.toStdString();
    EXPECT_TRUE(content(file).contains(QStringLiteral("(index.md)"))) << page.toStdString();
  }
}

TEST(Guide, HelpAndItsPicturesStaySmall) {
  qint64 bytes = 0;
  for (QDirIterator files(folder() + QStringLiteral("/.."), QDir::Files,
                          QDirIterator::Subdirectories);
       files.hasNext();) {
    bytes += QFileInfo(files.next()).size();
  }
  EXPECT_LT(bytes, 2'000'000);
}

TEST(Guide, NothingOutsideTheHelpIsShown) {
  GuideBrowser browser(folder());
  browser.resize(600, 400);
  browser.show_page(QStringLiteral("no such page"));
  EXPECT_EQ(browser.page(), QStringLiteral("index"));
  browser.setHtml(QStringLiteral("<img src='../../gpus.json'><img src='/etc/passwd'>"));
  EXPECT_FALSE(browser.grab().isNull());
  GuideBrowser nowhere(QStringLiteral("/no/such/folder"));
  nowhere.show_page(QStringLiteral("timeline"));
  EXPECT_TRUE(nowhere.toPlainText().contains(QStringLiteral("missing")));
}

TEST(Guide, OpensAtThePageOfTheViewInFocusAndEveryViewHasOne) {
  Session session;
  MainWindow window(session, false);
  window.resize(1280, 800);
  window.show();
  const auto page = [&] {
    QApplication::setActiveWindow(&window);  // the guide took the focus
    QTest::keyClick(&window, Qt::Key_F1);
    auto* guide = window.findChild<GuideWindow*>();
    EXPECT_NE(guide, nullptr);
    return guide ? guide->browser().page() : QString();
  };
  EXPECT_EQ(page(), QStringLiteral("start"));  // nothing is open
  window.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
  ASSERT_TRUE(QTest::qWaitFor([&] { return session.snapshot().outcome != nullptr; }, kPatience));
  session.settle();
  visit_views(window, [&](const NamedView& view, const std::string& keys) {
    view.widget->setFocus();
    EXPECT_EQ(page(), view.file) << keys;
  });
}

}  // namespace
}  // namespace strato
