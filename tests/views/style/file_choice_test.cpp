// Files that are asked for: extensions, and the folder that a dialog begins in.
#include "views/style/file_choice.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QDir>
#include <QFileDialog>
#include <QLineEdit>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

namespace strato {
namespace {

const QString kFolder = QStringLiteral("files/folder");

class FileChoiceTest : public ::testing::Test {
 protected:
  void SetUp() override { QSettings().remove(QStringLiteral("files")); }
  void TearDown() override { QSettings().remove(QStringLiteral("files")); }

  // What a person types into the next dialog.
  void answer(const QString& typed) {
    QTimer::singleShot(200, [this, typed] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      if (dialog == nullptr) return answer(typed);  // it is not there yet
      began_in_ = dialog->directory().canonicalPath();
      dialog->findChild<QLineEdit*>()->setText(typed);
      QTest::keyClick(dialog->findChild<QLineEdit*>(), Qt::Key_Return);
      if (dialog->isVisible()) dialog->reject();
    });
  }
  QString write(const QString& typed) {
    answer(typed);
    return style::file_to_write(nullptr, QStringLiteral("Save"), QStringLiteral("a.report.html"),
                                QStringLiteral("Pages (*.html)"));
  }

  QTemporaryDir folder_;
  QString began_in_;
};

TEST_F(FileChoiceTest, ANameWithoutAnExtensionGetsTheProposedOne) {
  EXPECT_EQ(write(folder_.filePath(QStringLiteral("cmp2"))),
            folder_.filePath(QStringLiteral("cmp2.html")));
  EXPECT_EQ(write(folder_.filePath(QStringLiteral("cmp2.htm"))),
            folder_.filePath(QStringLiteral("cmp2.htm")));
}

TEST_F(FileChoiceTest, TheNextDialogBeginsWhereTheLastFileIsAlsoInAnotherSession) {
  write(folder_.filePath(QStringLiteral("one.html")));
  EXPECT_EQ(QSettings().value(kFolder).toString(), folder_.path());
  QTemporaryDir other;
  QSettings().setValue(kFolder, other.path());
  write(QStringLiteral("two.html"));
  EXPECT_EQ(began_in_, QDir(other.path()).canonicalPath());
}

TEST_F(FileChoiceTest, AFolderThatIsGoneIsForgotten) {
  QSettings().setValue(kFolder, QStringLiteral("/nowhere/at/all"));
  write(folder_.filePath(QStringLiteral("one.html")));
  EXPECT_FALSE(began_in_.isEmpty());
}

}  // namespace
}  // namespace strato
