#include "views/style/file_choice.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QSettings>

namespace strato::style {
namespace {

constexpr QLatin1String kFolder("files/folder");

QStringList chosen(QFileDialog& dialog, const QString& filter) {
  const QString folder = QSettings().value(kFolder).toString();
  if (QFileInfo(folder).isDir()) dialog.setDirectory(folder);
  dialog.setNameFilters(filter.split(QStringLiteral(";;")));
  if (dialog.exec() != QDialog::Accepted || dialog.selectedFiles().isEmpty()) return {};
  const QStringList files = dialog.selectedFiles();
  QSettings().setValue(kFolder, QFileInfo(files.front()).absolutePath());
  return files;
}

}  // namespace

QString file_to_write(QWidget* parent, const QString& title, const QString& name,
                      const QString& filter) {
  QFileDialog dialog(parent, title);
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  dialog.setDefaultSuffix(QFileInfo(name).suffix());
  dialog.selectFile(name);
  return chosen(dialog, filter).value(0);
}

QString file_to_open(QWidget* parent, const QString& title, const QString& filter) {
  QFileDialog dialog(parent, title);
  dialog.setFileMode(QFileDialog::ExistingFile);
  return chosen(dialog, filter).value(0);
}

QStringList files_to_open(QWidget* parent, const QString& title, const QString& filter) {
  QFileDialog dialog(parent, title);
  dialog.setFileMode(QFileDialog::ExistingFiles);
  return chosen(dialog, filter);
}

QString folder_to_open(QWidget* parent, const QString& title) {
  QFileDialog dialog(parent, title);
  dialog.setFileMode(QFileDialog::Directory);
  return chosen(dialog, QStringLiteral("*")).value(0);
}

}  // namespace strato::style
