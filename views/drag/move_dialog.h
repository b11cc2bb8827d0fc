// "Move Selection to Device": what a drag does, by keyboard. A list of the places in the cluster,
// filtered by what is typed; a line below says what the chosen one would do before Enter does it.
#pragma once

#include <QDialog>

#include "views/models/drop_place.h"
#include "views/models/edit_preview.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QListWidget;

namespace strato {

class MoveDialog : public QDialog {
  Q_OBJECT
 public:
  // Of the groups, or the ops, that are selected now. Closes when they are no longer those of the
  // problem.
  explicit MoveDialog(Session& session, QWidget* parent = nullptr);

  EditPreview& preview() { return preview_; }
  QListWidget& places() { return *list_; }
  QLineEdit& filter() { return *filter_; }
  QCheckBox& whole_groups() { return *whole_groups_; }  // instead of single ops of them

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void show_matching(const QString& words);
  void ask();
  void tell();
  void drop();
  Carried carried() const;
  const DropPlace* place() const;  // null: none is chosen

  Session& session_;
  std::shared_ptr<const Problem> problem_;
  const Carried groups_, ops_;
  std::vector<DropPlace> all_;
  QLineEdit* filter_;
  QListWidget* list_;
  QLabel* title_;
  QCheckBox* whole_groups_;
  QLabel* effect_;
  EditPreview preview_;
};

// Shows it over `over`, unless nothing is selected that could be moved: false then.
bool move_selection(Session& session, QWidget& over);

}  // namespace strato
