// Tags and notes of a workspace.
#include "core/base/error.h"
#include "core/store/workspace.h"
#include "core/store/workspace_state.h"

namespace strato {
namespace {

constexpr const char* kFind[] = {
    "SELECT 1 FROM model WHERE id = ?", "SELECT 1 FROM cluster WHERE id = ?",
    "SELECT 1 FROM run WHERE id = ?", "SELECT 1 FROM strategy WHERE id = ?"};

Annotation annotation_from(SQLite::Statement& row, int first) {
  Annotation annotation;
  try {
    annotation.tags = parse_tags(row.getColumn(first).getString());
  } catch (const InputError&) {  // another program's: not worth losing the rest
  }
  annotation.note = row.getColumn(first + 1).getString();
  return annotation;
}

}  // namespace

void Workspace::annotate(const StoredItem& item, const Annotation& annotation) {
  const std::string tags = tags_text(parse_tags(tags_text(annotation.tags)));
  const int kind = static_cast<int>(item.kind);
  state_->write([&] {
    SQLite::Statement find = state_->prepare(kFind[kind]);
    find.bind(1, item.row);
    if (!find.executeStep()) {
      throw InputError(state_->file.string(), "",
                       "has no " + std::string(name_of(item.kind)) + " " + std::to_string(item.row),
                       "it may have been deleted by another program");
    }
    SQLite::Statement put = state_->prepare(
        annotation.empty() ? "DELETE FROM annotation WHERE kind = ? AND item = ?"
                           : "INSERT OR REPLACE INTO annotation (kind, item, tags, note) VALUES "
                             "(?, ?, ?, ?)");
    put.bind(1, kind);
    put.bind(2, item.row);
    if (!annotation.empty()) {
      put.bind(3, tags);
      put.bind(4, annotation.note);
    }
    put.exec();
  });
}

std::map<StoredItem, Annotation> Workspace::annotations() const {
  return state_->guarded([&] {
    std::map<StoredItem, Annotation> all;
    SQLite::Statement row =
        state_->prepare("SELECT kind, item, tags, note FROM annotation WHERE kind BETWEEN 0 AND 3");
    while (row.executeStep()) {
      const StoredItem item{static_cast<StoredKind>(row.getColumn(0).getInt()),
                            row.getColumn(1).getInt64()};
      all.emplace(item, annotation_from(row, 2));
    }
    return all;
  });
}

Annotation Workspace::annotation(const StoredItem& item) const {
  return state_->guarded([&] {
    SQLite::Statement row =
        state_->prepare("SELECT tags, note FROM annotation WHERE kind = ? AND item = ?");
    row.bind(1, static_cast<int>(item.kind));
    row.bind(2, item.row);
    return row.executeStep() ? annotation_from(row, 0) : Annotation{};
  });
}

}  // namespace strato
