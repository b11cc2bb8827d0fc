#include "core/store/table/annotation_table.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/store/sqlite/connection.h"

namespace strato {
namespace {

using store::ResultRow;

constexpr const char* kFind[] = {
    "SELECT 1 FROM model WHERE id = ?", "SELECT 1 FROM cluster WHERE id = ?",
    "SELECT 1 FROM run WHERE id = ?", "SELECT 1 FROM strategy WHERE id = ?"};

Annotation annotation_from(const ResultRow& row, int first) {
  Annotation annotation;
  try {
    annotation.tags = parse_tags(row.text(first));
  } catch (const InputError&) {  // another program's: not worth losing the rest
  }
  annotation.note = row.text(first + 1);
  return annotation;
}

}  // namespace

void AnnotationTable::set(const StoredItem& item, const Annotation& annotation) {
  const std::string tags = tags_text(parse_tags(tags_text(annotation.tags)));
  connection_.write([&] {
    const auto found = connection_.first(kFind[static_cast<int>(item.kind)], {item.row},
                                         [](const ResultRow&) { return true; });
    if (!found) connection_.fail_missing(fmt::format("{} {}", name_of(item.kind), item.row));
    if (annotation.empty()) {
      connection_.execute("DELETE FROM annotation WHERE kind = ? AND item = ?",
                          {item.kind, item.row});
    } else {
      connection_.execute(
          "INSERT OR REPLACE INTO annotation (kind, item, tags, note) VALUES (?, ?, ?, ?)",
          {item.kind, item.row, tags, annotation.note});
    }
  });
}

std::map<StoredItem, Annotation> AnnotationTable::all() const {
  std::map<StoredItem, Annotation> all;
  connection_.each("SELECT kind, item, tags, note FROM annotation WHERE kind BETWEEN 0 AND 3", {},
                   [&](const ResultRow& row) {
                     const StoredItem item{row.enumerated<StoredKind>(0), row.integer(1)};
                     all.emplace(item, annotation_from(row, 2));
                   });
  return all;
}

Annotation AnnotationTable::of(const StoredItem& item) const {
  return connection_
      .first("SELECT tags, note FROM annotation WHERE kind = ? AND item = ?", {item.kind, item.row},
             [](const ResultRow& row) { return annotation_from(row, 0); })
      .value_or(Annotation{});
}

}  // namespace strato
