#include "app/explorer/translations.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>
#include <QStandardPaths>
#include <QTranslator>
#include <memory>

#include "core/io/file.h"

namespace strato {
namespace {

bool install(const QLocale& locale, const QString& name, const QString& folder) {
  auto translator = std::make_unique<QTranslator>(QCoreApplication::instance());
  if (!translator->load(locale, name, QStringLiteral("_"), folder)) return false;
  return QCoreApplication::installTranslator(translator.release());
}

}  // namespace

QStringList translation_folders() {
  const QString part = QStringLiteral("/translations");
  return {QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) + part,
          QCoreApplication::applicationDirPath() + part,
          QString::fromStdString((home_directory() / "resources").string()) + part};
}

bool install_translation(const QLocale& locale, const QStringList& folders) {
  for (const QString& folder : folders) {
    if (!install(locale, QStringLiteral("stratoscope"), folder)) continue;
    install(locale, QStringLiteral("qtbase"), QLibraryInfo::path(QLibraryInfo::TranslationsPath));
    return true;
  }
  return false;
}

}  // namespace strato
