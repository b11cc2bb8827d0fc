// The window in another language: every word goes through the translator, and files are found by
// the locale.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QApplication>
#include <QDir>
#include <QFile>
#include <QLocale>
#include <QMenuBar>
#include <QTemporaryDir>
#include <QTranslator>

#include "app/explorer/main_window.h"
#include "app/explorer/places/centre.h"
#include "app/explorer/places/place_switch.h"
#include "app/explorer/translations.h"
#include "tests/app/explorer/sample.h"

namespace strato {
namespace {

// Marks every word that it is asked for, and makes it longer, as other languages do.
class Pseudo : public QTranslator {
 public:
  Pseudo() { QCoreApplication::installTranslator(this); }
  ~Pseudo() override { QCoreApplication::removeTranslator(this); }
  bool isEmpty() const override { return false; }
  QString translate(const char*, const char* source, const char*, int) const override {
    return QStringLiteral("«%1»").arg(QString::fromUtf8(source));
  }
};

TEST(Translation, WordsOfTheWindowAreTranslated) {
  const Pseudo pseudo;
  Session session;
  MainWindow window(session, false);
  window.show();
  window.open({sample("models/lenet.onnx"), sample("clusters/tag-2x1080ti.json")});
  session.settle();
  for (const QAction* menu : window.menuBar()->actions()) {
    EXPECT_TRUE(menu->text().contains(QStringLiteral("«"))) << menu->text().toStdString();
    ASSERT_NE(menu->menu(), nullptr);
    // Names of views, planners and files inside are marked where they are words.
    int marked = 0;
    for (const QAction* action : menu->menu()->actions())
      marked += action->text().contains(QStringLiteral("«")) ? 1 : 0;
    EXPECT_GT(marked, 0) << menu->text().toStdString();
  }
  auto& centre = *window.findChild<Centre*>();
  for (const NamedView& view : centre.views())
    EXPECT_TRUE(view.name.contains(QStringLiteral("«"))) << view.name.toStdString();
  for (const auto* button : centre.findChild<PlaceSwitch*>()->findChildren<QAbstractButton*>())
    EXPECT_TRUE(button->text().contains(QStringLiteral("«"))) << button->text().toStdString();
  EXPECT_FALSE(window.grab().isNull());
}

TEST(Translation, FilesAreFoundByLocaleAndOthersAreRefused) {
  QTemporaryDir folder;
  const QStringList folders = {folder.filePath(QStringLiteral("no_such")), folder.path()};
  EXPECT_FALSE(install_translation(QLocale(QStringLiteral("de_AT")), folders));
  QFile damaged(folder.filePath(QStringLiteral("stratoscope_de.qm")));
  ASSERT_TRUE(damaged.open(QIODevice::WriteOnly));
  damaged.write("no translation at all");
  damaged.close();
  EXPECT_FALSE(install_translation(QLocale(QStringLiteral("de_AT")), folders));
}

// As lrelease writes them, of one word in every context.
QByteArray translation_of(const QByteArray& source, const QString& word) {
  const auto number = [](std::uint32_t value) {
    QByteArray bytes(4, '\0');
    for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(value >> (24 - 8 * i));
    return bytes;
  };
  const auto section = [&](char tag, const QByteArray& bytes) {
    return QByteArray(1, tag) + number(static_cast<std::uint32_t>(bytes.size())) + bytes;
  };
  std::uint32_t hash = 0;  // ELF's
  for (const char letter : source) {
    hash = (hash << 4) + static_cast<unsigned char>(letter);
    const std::uint32_t high = hash & 0xf0000000U;
    hash = (hash ^ (high >> 24)) & ~high;
  }
  QByteArray letters;
  for (const QChar letter : word)
    letters += QByteArray(1, static_cast<char>(letter.row())) + static_cast<char>(letter.cell());
  const QByteArray message = section(3, letters) + QByteArray(1, '\1');
  return QByteArray::fromHex("3cb86418caef9c95cd211cbf60a1bddd") +
         section('\x42', number(hash) + number(0)) + section('\x69', message);
}

TEST(Translation, AFilesWordsAreSeenInTheWindowAlsoInCountriesOfTheLanguage) {
  QTemporaryDir folder;
  QFile file(folder.filePath(QStringLiteral("stratoscope_de.qm")));
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(translation_of("&File", QStringLiteral("&Datei")));
  file.close();
  EXPECT_FALSE(install_translation(QLocale(QStringLiteral("fr")), {folder.path()}));
  ASSERT_TRUE(install_translation(QLocale(QStringLiteral("de_AT")), {folder.path()}));
  {
    Session session;
    const MainWindow window(session, false);
    QStringList menus;
    for (const QAction* menu : window.menuBar()->actions()) menus << menu->text();
    EXPECT_TRUE(menus.contains(QStringLiteral("&Datei"))) << menus.join(' ').toStdString();
    EXPECT_TRUE(menus.contains(QStringLiteral("&Edit")));  // has no other word
  }
  for (auto* translator : QCoreApplication::instance()->findChildren<QTranslator*>())
    delete translator;  // the words of other tests are English
}

}  // namespace
}  // namespace strato
