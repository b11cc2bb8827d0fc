#include "app/explorer/open_files.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSettings>
#include <QStandardPaths>
#include <algorithm>

#include "core/base/error.h"
#include "core/cluster/read/equal_machines.h"
#include "core/cluster/read/machine_text.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/plugin/use/model_file.h"
#include "core/trace/read/read_trace.h"

namespace strato {
namespace {

const QString kRecent = QStringLiteral("recent");

FileKind kind_of_json(const std::filesystem::path& path) {
  const JsonView view = JsonView::parse(read_file(path), path.string());
  const auto format = view.is_object() ? view.find("format") : std::nullopt;
  const std::string name = format && format->is_string() ? format->string() : std::string();
  if (name.find("plan") != std::string::npos) return FileKind::Plan;
  if (name.find("profile") != std::string::npos) return FileKind::Profile;
  if (name.find("calibration") != std::string::npos) return FileKind::Calibration;
  if (describes_model(view)) return FileKind::Model;
  return FileKind::Cluster;  // whose reader says what is wrong
}

QString data_folder() {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation);
  QDir().mkpath(folder);
  return folder;
}

}  // namespace

FileKind kind_of(const PluginRegistry& plugins, const QString& file) {
  const std::filesystem::path path = file.toStdString();
  const std::string extension = path.extension().string();
  if (extension == ".strata") return FileKind::Workspace;
  if (names_equal_machines(path)) return FileKind::Cluster;
  if (!QFileInfo::exists(file)) {
    throw InputError(path.string(), "", "there is no such file", "check the name");
  }
  if (QFileInfo(file).isDir() || trace::recognise(path)) return FileKind::Trace;
  if (extension == ".json") return kind_of_json(path);
  // Without the plugin, the registry's message says what is missing.
  if (extension == ".onnx" || has_importer(plugins, path)) return FileKind::Model;
  if (is_cluster_text(path)) return FileKind::Cluster;
  refuse_unknown_file(path);
}

QString open_files(Session& session, const QStringList& files, const QString& fallback_workspace,
                   ImportOptions import) {
  std::vector<std::pair<FileKind, QString>> known;
  for (const QString& file : files) {
    try {
      known.emplace_back(kind_of(session.plugins(), file), file);
    } catch (const InputError& error) {
      emit session.failed(QString::fromUtf8(error.what()));
    }
  }
  const auto has = [&](FileKind kind) {
    return std::any_of(known.begin(), known.end(), [&](const auto& f) { return f.first == kind; });
  };
  const bool problem = has(FileKind::Model) || has(FileKind::Plan);
  if (problem && !has(FileKind::Workspace) && !session.workspace() &&
      !fallback_workspace.isEmpty()) {
    session.open_workspace(fallback_workspace.toStdString(), false);
  }
  if (!import.batch) import.batch = kDefaultBatch;
  QString trace;
  for (const auto& [kind, file] : known) {
    const std::filesystem::path path = file.toStdString();
    switch (kind) {
      case FileKind::Workspace:
        session.open_workspace(path, !problem);
        break;
      case FileKind::Cluster:
        session.open_cluster(path);
        break;
      case FileKind::Model:
        session.open_model(path, import, {});
        break;
      case FileKind::Plan:
        session.open_plan(path);
        break;
      case FileKind::Profile:
        session.open_profile(path);
        break;
      case FileKind::Calibration:
        session.open_calibration(path);
        break;
      case FileKind::Trace:
        if (trace.isEmpty()) trace = file;
        break;
    }
  }
  return trace;
}

QStringList recent_files() {
  QStringList files = QSettings().value(kRecent).toStringList();
  files.removeIf([](const QString& file) { return !QFileInfo::exists(file); });
  return files;
}

// Names of equal machines are no files.
void remember_as_recent(const QStringList& files) {
  constexpr int kMostRecent = 10;
  QStringList recent = QSettings().value(kRecent).toStringList();
  for (const QString& file : files) {
    if (!QFileInfo::exists(file)) continue;
    const QString path = QFileInfo(file).absoluteFilePath();
    recent.removeAll(path);
    recent.prepend(path);
  }
  QSettings().setValue(kRecent, QStringList(recent.mid(0, kMostRecent)));
}

QString bundled_workspace() {
  const QString bundled = QString::fromStdString(
      (home_directory() / "sample_graphs" / "workspace" / "demo.strata").string());
  return QFileInfo::exists(bundled) ? bundled : QString();
}

QString bundled_workspace_copy() {
  const QString bundled = bundled_workspace();
  if (bundled.isEmpty()) return {};
  const QString copy = data_folder() + QStringLiteral("/demo.strata");
  if (!QFileInfo::exists(copy)) {
    if (!QFile::copy(bundled, copy)) return {};
    QFile::setPermissions(copy, QFile::permissions(copy) | QFile::WriteOwner);
  }
  return copy;
}

QString pasted_folder() { return data_folder() + QStringLiteral("/pasted"); }

QString lesson_workspace() { return data_folder() + QStringLiteral("/lessons.strata"); }

QString user_workspace() { return data_folder() + QStringLiteral("/workspace.strata"); }

}  // namespace strato
