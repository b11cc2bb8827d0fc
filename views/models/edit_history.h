// The states of the open problem that edits have led to, as a tree: every strategy that was edited,
// with what was made of it. Undoing and editing again makes a branch, and nothing is lost. States
// come from the workspace (each is a stored strategy with its parent) and from this session.
//
// As rows: a state's last child follows it on the same level, other children are branches before
// it, a level deeper; so a long row of edits stays a list. GUI thread only.
#pragma once

#include <QAbstractTableModel>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "views/models/session.h"

namespace strato {

class EditHistory : public QAbstractTableModel {
  Q_OBJECT
 public:
  enum Column { Name, Step, kColumns };
  enum Role {
    LevelRole = Qt::UserRole,  // int: 0, or how deep the branch is
    CurrentRole,               // bool: it is what is shown
    BranchRole,                // bool: the first of a branch
    FeasibleRole,
    AboveRole,  // unsigned: bit L is set where the line of level L comes from the row above
    BelowRole,  // and where it goes on to the row below
  };

  explicit EditHistory(Session& session, QObject* parent = nullptr);
  ~EditHistory() override;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;  // renames

  int current_row() const;  // -1: what is shown is no state of it
  void go_to(int row);      // shows it, as one undoable step

 private:
  struct State {
    Digest digest;
    std::optional<Digest> parent;
    QString name;
    bool to_rename = false;  // as soon as it is stored: `name` was given by a person
    Nanos step_time;         // 0: not known yet
    bool feasible = true;
    std::optional<StrategyRow> stored;
    std::shared_ptr<const Strategy> strategy;  // null: only stored
  };
  struct Row {
    std::size_t state;
    int level = 0;
    bool branch = false;
    std::uint32_t above = 0, below = 0;  // lines by level, as in AboveRole
  };

  void forget();
  void follow();        // another strategy is shown
  void take_name();     // of the edit that led to it
  void take_outcome();  // what it is worth
  void take_workspace();
  void read_stored();
  State& state_of(const Digest& digest);
  std::vector<std::optional<std::size_t>> parents() const;  // places in states_
  void arrange();
  void take_stored(State& state, const StoredStrategy& stored);
  void draw_line(std::size_t from, std::size_t to);
  void add_rows(const std::vector<std::vector<std::size_t>>& children, std::size_t root, int level);

  Session& session_;
  std::shared_ptr<const Graph> graph_;
  std::shared_ptr<const Cluster> cluster_;
  std::vector<State> states_;  // by when they were stored, then by when they were first seen
  std::vector<Row> rows_;
  std::optional<Digest> shown_;
  std::filesystem::path workspace_;  // that `stored` are rows of
  std::int64_t version_ = -1;
};

}  // namespace strato
