// What is chosen in the workspace: its picture, what it came from, its tags and its note, the last
// two to be written here. What is typed is stored after a moment, and at once when something else
// is chosen or the window closes; the panel names a word that cannot be a tag, and the others are
// stored. Hidden while nothing is chosen.
#pragma once

#include <QTimer>
#include <QWidget>
#include <filesystem>
#include <map>
#include <utility>

#include "views/models/workspace_model.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;

namespace strato {

class StrategyPictures;

class ItemPanel : public QWidget {
  Q_OBJECT
 public:
  ItemPanel(Session& session, WorkspaceModel& model, StrategyPictures& pictures,
            QWidget* parent = nullptr);

  void show_item(WorkspaceModel::Kind kind, std::int64_t row);  // a section: nothing
  void store();                                                 // what is typed and not stored yet
  void write_tags();
  void write_note();

  QLineEdit& tags() { return *tags_; }
  QPlainTextEdit& note() { return *note_; }
  QString lineage() const;  // as text, with links

 signals:
  void wanted(int kind, qint64 row);  // an ancestor was clicked
  void left();                        // Escape: back to the list

 protected:
  void hideEvent(QHideEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QModelIndex index() const { return model_.find(kind_, row_); }
  void typed();
  void refresh();
  void refresh_picture();
  void show_error(const QString& error);

  struct Said {
    QString tags, note;
    friend bool operator==(const Said&, const Said&) = default;
  };
  struct Typed {
    Said said;      // what can be stored of it
    QString error;  // of the rest
  };
  Typed what_is_typed() const;
  Said what_is_said(const QModelIndex& item);

  std::filesystem::path open_file() const;
  void store_elsewhere();

  Session& session_;
  WorkspaceModel& model_;
  StrategyPictures& pictures_;
  QLabel *picture_, *lineage_, *error_;
  QLineEdit* tags_;
  QPlainTextEdit* note_;
  QTimer store_later_;
  WorkspaceModel::Kind kind_ = WorkspaceModel::Kind::Section;
  std::int64_t row_ = 0;
  std::filesystem::path file_;  // of the workspace that it is in
  // On its way into the workspace: the model does not show it yet.
  std::map<std::pair<WorkspaceModel::Kind, std::int64_t>, Said> sent_;
  bool fresh_ = false;    // nothing of it is shown yet
  bool changed_ = false;  // by a person, and not stored
};

}  // namespace strato
