#include "app/explorer/last_workspace.h"

#include <QFileInfo>
#include <QSettings>
#include <utility>

#include "app/explorer/open_files.h"
#include "views/style/text.h"

namespace strato {
namespace {

const QString kLast = QStringLiteral("workspace/last");
const QString kOpening = QStringLiteral("workspace/opening");

}  // namespace

LastWorkspace::LastWorkspace(Session& session, QObject* parent)
    : QObject(parent), session_(session) {
  connect(&session_, &Session::workspace_changed, this, &LastWorkspace::look);
  connect(&session_, &Session::busy_changed, this, &LastWorkspace::ends_when_idle);
}

QString LastWorkspace::to_reopen(QString& trouble) {
  QSettings settings;
  const QString file = settings.value(kLast).toString();
  if (file.isEmpty() || !QFileInfo(file).isFile()) return {};
  if (settings.value(kOpening).toString() != file) return file;
  settings.remove(kOpening);
  trouble = tr("%1 was not opened: the last time, the program ended while it did. It is under "
               "File > Open Recent.")
                .arg(QFileInfo(file).fileName());
  return {};
}

void LastWorkspace::begins(const QString& file) {
  QSettings settings;
  settings.setValue(kOpening, file);
  settings.sync();
}

void LastWorkspace::ends_when_idle() {
  if (!session_.busy()) ends();
}

void LastWorkspace::ends() { QSettings().remove(kOpening); }

void LastWorkspace::stands_in(const QString& file) {
  stand_in_ = QFileInfo(file).absoluteFilePath();
}

void LastWorkspace::look() {
  const WorkspaceLists* workspace = session_.workspace();
  const QString file = workspace && workspace->is_read()
                           ? QFileInfo(text(workspace->file().string())).absoluteFilePath()
                           : QString();
  if (file.isEmpty() || file == file_ || file == lesson_workspace()) return;
  file_ = file;
  if (file != std::exchange(stand_in_, {})) QSettings().setValue(kLast, file);
  emit another(file);
}

}  // namespace strato
