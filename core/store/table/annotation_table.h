// The tags and notes of a workspace (annotation.h). Its errors and threads are those of the
// workspace.
#pragma once

#include <map>

#include "core/store/table/annotation.h"
#include "core/store/table/rows.h"

namespace strato {

class AnnotationTable {
 public:
  explicit AnnotationTable(store::Connection& connection) : connection_(connection) {}

  // Instead of what was said about the item before; an empty one takes that away. Throws InputError
  // when there is no such row, or a tag is no word.
  void set(const StoredItem& item, const Annotation& annotation);
  std::map<StoredItem, Annotation> all() const;  // of those that have one
  Annotation of(const StoredItem& item) const;   // empty: nothing was said

 private:
  store::Connection& connection_;
};

}  // namespace strato
