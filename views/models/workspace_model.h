// The open workspace as a tree: Models, Clusters, Runs (each with the edits made from what it
// found), and Strategies that come from no run. Edits stand below what they were made from; a line
// of edits without branches stands on one level. Re-read when the session or another process has
// written.
#pragma once

#include <QAbstractItemModel>
#include <memory>
#include <utility>
#include <vector>

#include "views/models/session.h"

namespace strato {

class WorkspaceModel : public QAbstractItemModel {
  Q_OBJECT
 public:
  enum class Kind { Section, Model, Cluster, Run, Strategy };
  enum Column { Name, Step, kColumns };
  enum Role {
    KindRole = Qt::UserRole,  // int of Kind
    RowRole,                  // of the workspace
    TagsRole,                 // QStringList
    NoteRole,                 // QString
    PictureRole,              // of a strategy that stands for it; 0: none
  };
  // What a strategy or a run came from.
  struct Ancestor {
    Kind kind = Kind::Section;
    std::int64_t row = 0;
    QString name;
    bool cut = false;  // others between it and the one before are left out
    friend bool operator==(const Ancestor&, const Ancestor&) = default;
  };
  static constexpr std::size_t kLongestLine = 8;

  explicit WorkspaceModel(Session& session, QObject* parent = nullptr);
  ~WorkspaceModel() override;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& child) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;  // renames

  QModelIndex find(Kind kind, std::int64_t row) const;  // invalid: it is not there
  // Of what is shown: its strategy, the run that found it, or a model of which nothing is stored
  // yet. Invalid: what is shown is not here. Bold.
  QModelIndex shown() const;
  // Model, cluster, run and strategies, the first one first; without itself.
  std::vector<Ancestor> lineage(const QModelIndex& index) const;
  // Stored in the background. Why it cannot be, for people; empty: it is.
  QString annotate(const QModelIndex& index, const QString& tags, const QString& note);

  void refresh();  // reads the workspace again; keeps what is there when nothing changed

  struct Node;  // workspace_nodes.h

 signals:
  void shown_changed();

 private:
  const Node* find_shown() const;
  void follow();
  const Node* node(const QModelIndex& index) const;
  void take_text(Node& node, Node& other);

  Session& session_;
  std::unique_ptr<Node> root_;
  std::pair<Kind, std::int64_t> shown_ = {Kind::Section, 0};
};

}  // namespace strato
