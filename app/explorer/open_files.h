// Opens whatever a person hands over, by what it is: models, clusters, plans, profiles, workspaces,
// recorded traces.
#pragma once

#include <QString>
#include <QStringList>

#include "views/models/session.h"

namespace strato {

enum class FileKind { Model, Cluster, Plan, Profile, Calibration, Workspace, Trace };

// By extension, traces by their content, and JSON files by their "format". A folder is one of
// traces. Throws InputError for a file that is not there or is none of them.
FileKind kind_of(const PluginRegistry& plugins, const QString& file);

// A workspace shows its latest run unless a model or plan is opened with it. Problems come through
// Session::failed. Without a workspace among them, `fallback_workspace` keeps what is done (empty:
// nothing does). Models are bound as `import` says; without a batch, to kDefaultBatch.
// Returns the first trace among them: it belongs to no session, and is shown by a view of its own.
QString open_files(Session& session, const QStringList& files, const QString& fallback_workspace,
                   ImportOptions import = {});

QStringList recent_files();  // of the user's settings: those still there, the latest first
void remember_as_recent(const QStringList& files);

QString bundled_workspace();  // empty when there is none
// Copies it to the user's data folder, once; empty when there is none.
QString bundled_workspace_copy();
QString pasted_folder();     // in the user's data folder: what was pasted as a model
QString lesson_workspace();  // where lessons keep what is done in them
QString user_workspace();    // in the user's data folder; may not be there yet

inline constexpr std::int64_t kDefaultBatch = 32;  // binds a symbolic batch

}  // namespace strato
